import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const readme = read('README.md');

describe('the README', () => {
  test.each(['quickstart', 'stdio', 'modern-http', 'basket-handle'])('shows the example %s as it is', (name) => {
    expect(readme).toContain(`\`\`\`ts\n${read(`examples/${name}.ts`)}\`\`\``);
  });

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)|href="([^"]+)"/g)].map(
      ([, markdown, html]) => markdown ?? html ?? '',
    );
    expect(links.length).toBeGreaterThan(20);
    for (const link of links) expect(existsSync(new URL(link, root)), link).toBe(true);
  });

  test('names every error code', () => {
    const codes = ['src/errors.ts', 'src/mcp/errors.ts', 'src/mcp/state-key.ts']
      .flatMap((file) => [...read(file).matchAll(/'([A-Z]+_[A-Z_]+)'/g)].map(([, code]) => code ?? ''))
      .filter((code) => code !== '');
    expect(codes.length).toBeGreaterThan(15);
    for (const code of codes) expect(readme, code).toContain(code);
  });

  test('names every option of attachGate and of createGateSessions that is not only for tests', () => {
    const onlyForTests = new Set(['now', 'timers', 'randomId']);
    const optionsOf = (file: string, name: string) => {
      const body = new RegExp(`interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(read(file))?.[1] ?? '';
      return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, option]) => option ?? '');
    };
    const options = [
      ...optionsOf('src/mcp/attach.ts', 'AttachGateOptions'),
      ...optionsOf('src/sessions/sessions-types.ts', 'GateSessionsOptions'),
    ];
    expect(options.length).toBeGreaterThan(18);
    for (const option of options.filter((name) => !onlyForTests.has(name)))
      expect(readme, option).toContain(`\`${option}\``);
  });
});
