/** What a file ending says about the file, in the words that tool descriptions use. */

export type FileKind =
  | 'text'
  | 'document'
  | 'slides'
  | 'sheet'
  | 'pdf'
  | 'image'
  | 'audio'
  | 'video'
  | 'code'
  | 'archive';

const KINDS: Readonly<Record<FileKind, string>> = {
  text: 'txt md markdown log json yaml yml xml html htm',
  document: 'doc docx odt rtf',
  slides: 'ppt pptx odp key',
  sheet: 'xls xlsx ods csv tsv',
  pdf: 'pdf',
  image: 'png jpg jpeg gif webp bmp tiff svg',
  audio: 'wav mp3 flac ogg m4a',
  video: 'mp4 mov mkv webm avi',
  code: 'py ts js tsx jsx java go rs c cpp rb php sh sql css',
  archive: 'zip tar gz rar 7z',
};

const BY_ENDING: ReadonlyMap<string, FileKind> = new Map(
  (Object.keys(KINDS) as FileKind[]).flatMap((kind) => KINDS[kind].split(' ').map((ending) => [ending, kind] as const)),
);

export function fileKind(ending: string): FileKind | undefined {
  return BY_ENDING.get(ending.toLowerCase());
}

interface KindWords {
  /** Takes the place of the path in the query; nothing where the kind says nothing of the tool. */
  readonly name: string;
  /** What reads such a file, and what makes one. */
  readonly read: string;
  readonly write: string;
}

export const KIND_WORDS: Readonly<Record<FileKind, KindWords>> = {
  text: { name: '', read: 'read text file', write: 'write file' },
  document: { name: 'word document', read: 'read word document text', write: 'create word document save' },
  slides: { name: 'presentation', read: 'open presentation', write: 'create presentation save slide' },
  sheet: { name: 'excel', read: 'read excel sheet', write: 'write excel sheet' },
  pdf: { name: 'pdf', read: 'read pdf document', write: 'create document convert pdf' },
  image: { name: 'image', read: 'read image file', write: 'save image' },
  audio: { name: 'audio', read: 'load audio file', write: 'save audio' },
  video: { name: 'video', read: 'load video file', write: 'save video' },
  code: { name: '', read: 'read file', write: 'write file' },
  archive: { name: 'archive', read: 'extract archive', write: 'create archive' },
};
