/** The README's gallery, made from the examples and what they really return. */
import { readFileSync } from 'node:fs';
import { gallery } from '../../examples/gallery.js';

const source = readFileSync(new URL('../../examples/gallery.ts', import.meta.url), 'utf8');

/** One section a helper: its call, what goes over the wire, what the model reads. */
export function renderGallery(): string {
  const given = ['All of them are given', '', fenced('ts', regionOf('given')), ''].join('\n');
  return [given, ...Object.entries(gallery).map(([helper, call]) => renderEntry(helper, call()))].join('\n');
}

function renderEntry(helper: string, result: unknown): string {
  const { content } = result as { content: { type: string; text?: string; resource?: { text?: string } }[] };
  const seen = content.map((block) => block.text ?? block.resource?.text ?? `(${block.type})`).join('\n');
  return [
    `#### \`${helper}\``,
    '',
    fenced('ts', codeOf(helper)),
    '',
    'sends',
    '',
    // Not `json`: the formatter would lay it out its own way, and this is what JSON.stringify says.
    fenced('json5', JSON.stringify(result, null, 2)),
    '',
    'and the model sees',
    '',
    fenced('text', seen.replaceAll('\t', '⇥')),
    '',
  ].join('\n');
}

function regionOf(name: string): string {
  const region = new RegExp(`// #region ${name}\\n([\\s\\S]*?)\\n *// #endregion`).exec(source)?.[1];
  if (region === undefined) throw new Error(`examples/gallery.ts has no region '${name}'`);
  return region;
}

/** The call as a reader would write it: without the function around it, and without its `return`. */
function codeOf(helper: string): string {
  const body = regionOf(helper)
    .replace(new RegExp(`^ *${helper}: \\(\\) =>\\s*`), '')
    .replace(/,$/, '');
  const indent = /\n( +)\S[^\n]*$/.exec(body)?.[1] ?? '';
  const code = body.replaceAll(`\n${indent}`, '\n');
  const statements = /^\{\n([\s\S]*)\n\}$/.exec(code)?.[1];
  return statements === undefined ? `${code};` : statements.replaceAll(/^ {2}(?:return )?/gm, '');
}

function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}
