/** What a package's README tells a newcomer to type. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Quickstart {
  /** Names behind `npm install`, the package itself first. */
  readonly install: readonly string[];
  /** The first TypeScript block. */
  readonly example: string;
}

/** Reads the first shell block with `npm install` and the first TypeScript block of a package's README. */
export function quickstart(folder: string): Quickstart {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```/gm)].map(([, language, text]) => ({
    language,
    text: text ?? '',
  }));
  const install = blocks.find(
    (block) => /^(sh|bash|shell)$/.test(block.language ?? '') && /npm (i|install) /.test(block.text),
  );
  const example = blocks.find((block) => /^(ts|typescript|js)$/.test(block.language ?? ''));
  if (!install || !example) throw new Error(`${folder}/README.md needs an \`npm install\` block and a \`ts\` block.`);
  const line = install.text.split('\n').find((text) => /npm (i|install) /.test(text)) ?? '';
  const names = line
    .replace(/#.*/, '')
    .split(/\s+/)
    .filter((word) => /^[@a-z]/.test(word) && !/^(npm|i|install)$/.test(word));
  return { install: names, example: example.text };
}
