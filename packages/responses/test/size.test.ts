import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** What a bundler ships of the package for someone who imports only `names`. */
async function shipped(names: string, external: string[] = []) {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export { ${names} } from ${JSON.stringify(entry)};`,
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    external,
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return {
    gzip: gzipSync(outputFiles[0]!.contents, { level: 9 }).length,
    text: outputFiles[0]!.text,
    inputs: inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path),
  };
}

const CORE = 'success, error, required, toolError, escapeXml, escapeXmlAttr, TOOL_RESPONSE_BRAND';

describe('what is imported is what is shipped', () => {
  test('the core, TOON aside, is within 3 KB', async () => {
    const { gzip, inputs } = await shipped(CORE);
    expect(gzip).toBeLessThanOrEqual(3 * 1024);
    expect(inputs.filter((path) => /toon-format|cfworker/.test(path))).toEqual([]);
  });

  // Kilobytes, gzipped, each helper by itself. Those below the line bring a library along.
  test.each<[helper: string, kilobytes: number]>([
    ['success', 1.2],
    ['error', 1.6],
    ['required', 1.6],
    ['toolError', 2],
    ['parseToolError', 1],
    ['escapeXml', 0.4],
    ['unknownAction', 3],
    ['fromZodError', 3.6],
    ['text', 3.1],
    ['image', 3.3],
    ['mix', 3.3],
    ['guardStringify', 1.5],
    ['paginate', 1],
    ['estimateTokens', 1],
    ['guardTool', 6],
    ['fit', 6.3],
    // ---
    ['structured', 11],
    ['toonSuccess', 9],
    ['compact', 16],
  ])('%s is within %s KB', async (helper, kilobytes) => {
    expect((await shipped(helper)).gzip).toBeLessThanOrEqual(kilobytes * 1024);
  });

  test('TOON comes with what uses it, and the JSON Schema validator too', async () => {
    const uses = async (helper: string, library: RegExp) =>
      (await shipped(helper)).inputs.some((path) => library.test(path));
    for (const helper of ['toonSuccess', 'compact']) expect(await uses(helper, /toon-format/)).toBe(true);
    for (const helper of ['success', 'toolError', 'mix', 'fit', 'structured', 'guardTool', 'paginate'])
      expect(await uses(helper, /toon-format/)).toBe(false);
    expect(await uses('structured', /cfworker/)).toBe(true);
    for (const helper of ['success', 'compact', 'fit', 'mix']) expect(await uses(helper, /cfworker/)).toBe(false);
  });

  test('the whole package runs anywhere: it needs no node module and no peer', async () => {
    const { text } = await shipped('success, compact, structured, fit, guardTool');
    expect(text).not.toMatch(/from\s*["'][^"']+["']|require\(|node:/);
  });
});
