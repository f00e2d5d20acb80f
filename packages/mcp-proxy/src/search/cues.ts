/** What a query asks for without saying so: a path to save to needs a writer, a URL a fetcher, a purchase a browser. */
import { fileKind, KIND_WORDS } from './file-kinds.js';

export type CueKind = 'write' | 'read' | 'directory' | 'url' | 'browse' | 'time';

/** One intent that the words alone do not carry, as a query of its own. */
interface Cue {
  readonly kind: CueKind;
  readonly query: string;
}

export interface CuedQuery {
  /** The query with paths and URLs replaced by what they are. */
  readonly text: string;
  readonly cues: readonly Cue[];
}

const URL_PATTERN = /\bhttps?:\/\/[^\s"'<>)\]]+/gi;
/** A Unix or Windows path of at least two parts, or one that is marked as a path by its start. */
const PATH_PATTERN = /(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?/g;
/** Words before a path that say what is done with it; the nearest one counts. */
const ACTIONS =
  /\b(?:(?<write>save[ds]?|saving|writ(?:e|es|ing|ten)|stor(?:e|ed|ing)|outputs?|exports?|exported|creat(?:e|es|ing)|generat(?:e|es|ing)|put|dump|as|into)|(?<read>read|open|load|convert|analy[sz]e|located|from|parse|line|view|play|directory|folder))\b/gi;
/** How far before a path its verb may stand, in characters. */
const ACTION_REACH = 120;
const BROWSE = /\b(?:buy|purchase|order online|shopping|best[- ]selling|amazon|ebay|log ?in to|sign up)\b/i;
const TIME =
  /\b(?:today|tonight|tomorrow|yesterday|right now|this (?:week|month|year)|(?:last|past|next|coming) (?:\w+ )?(?:\d+ ?h|hours?|days?|weeks?|months?|years?)|near future)\b/i;

export function findCues(query: string): CuedQuery {
  const cues: Cue[] = [];
  let text = query.replace(URL_PATTERN, (url) => {
    cues.push({ kind: 'url', query: 'fetch url web page' });
    return urlWords(url);
  });
  text = text.replace(PATH_PATTERN, (path, offset: number, whole: string) => {
    const ending = /\.([A-Za-z0-9]{1,5})\.?$/.exec(path)?.[1];
    const kind = ending === undefined ? undefined : fileKind(ending);
    if (kind === undefined) {
      // `and/or` and `/login` are no directories; two separators make one.
      if (path.split(/[/\\]/).length < 3) return ` ${path} `;
      cues.push({ kind: 'directory', query: 'list directory' });
      return ' directory ';
    }
    const words = KIND_WORDS[kind];
    const action = actionBefore(whole.slice(Math.max(0, offset - ACTION_REACH), offset));
    cues.push({ kind: action, query: words[action] });
    return ` ${words.name} `;
  });
  if (BROWSE.test(query)) cues.push({ kind: 'browse', query: 'browser navigate page click fill' });
  if (TIME.test(query)) cues.push({ kind: 'time', query: 'current time date' });
  return { text, cues: cues.filter((cue, index) => cues.findIndex((other) => other.query === cue.query) === index) };
}

function urlWords(url: string): string {
  const path = url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/[?#].*$/, '');
  return ` ${path.replace(/\.(?:com|org|net|io|dev|cn|html?)\b|[/\\._~-]/gi, ' ').slice(0, 100)} `;
}

function actionBefore(before: string): 'write' | 'read' {
  let action: 'write' | 'read' = 'read';
  for (const match of before.matchAll(ACTIONS)) action = match.groups?.write === undefined ? 'read' : 'write';
  return action;
}
