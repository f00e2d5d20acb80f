import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/node/index.js';
import { redactResult } from '../../src/node/redact.js';
import { createSecrets, type Secrets } from '../../src/node/secrets.js';

const KEY = 'sk-0123456789abcdef';
/** How a configuration writes a variable. */
const variable = `\${${'API_KEY'}}`;

function secretsFor(entry: Record<string, unknown>, variables: Record<string, string> = {}): Secrets {
  const { servers, problems } = parseConfig({ mcpServers: { up: entry } }, { variables });
  if (problems[0]) throw problems[0].error;
  return createSecrets(servers.get('up')!);
}

const local = (env: Record<string, string>): Secrets => secretsFor({ command: 'x', env });
const remote = (headers: Record<string, string>): Secrets => secretsFor({ url: 'https://up.example/mcp', headers });

describe('a credential in an entry is taken out of results', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ['a variable in an argument', { command: 'x', args: ['--key', variable] }, { API_KEY: KEY }],
    ['a variable in the path of an address', { url: `https://up.example/k/${variable}/mcp` }, { API_KEY: KEY }],
    ['an option and its value', { command: 'x', args: ['--token', KEY] }, {}],
    ['an option with its value', { command: 'x', args: [`--api-key=${KEY}`] }, {}],
    ['a header given as an argument', { command: 'x', args: ['--header', `Authorization: Bearer ${KEY}`] }, {}],
    ['the password of a database', { command: 'x', args: [`postgres://ada:${KEY}@db.example/x`] }, {}],
    ['the same in a variable', { command: 'x', env: { DATABASE_URL: `postgres://ada:${KEY}@db.example/x` } }, {}],
    ['the query of an address', { url: `https://up.example/mcp?api_key=${KEY}` }, {}],
    ['the user of an address', { url: `https://${KEY}@up.example/mcp` }, {}],
    ['headers as JSON', { command: 'x', env: { HEADERS: `{"Authorization":"Bearer ${KEY}"}` } }, {}],
    ...['DB_PASS', 'SSH_PASSPHRASE', 'GITHUB_PAT', 'SENTRY_DSN', 'AUTHORIZATION'].map(
      (name): [string, Record<string, unknown>, Record<string, string>] => [
        name,
        { command: 'x', env: { [name]: KEY } },
        {},
      ],
    ),
  ])('%s', (_what, entry, variables) => {
    expect(secretsFor(entry, variables).redactCredentials(`it is ${KEY}`)).toBe('it is [secret]');
  });
});

describe('what lets nobody in stays readable', () => {
  it.each<[string, Secrets, string]>([
    ['a short header', remote({ Authorization: 'a', 'X-Flag': 'true', 'X-Count': '1' }), 'a true 1'],
    ['a scheme without a token', remote({ Authorization: 'Bearer ' }), 'Bearer realm="x", Bearer token'],
    ['a token shorter than a secret', remote({ Authorization: 'Bearer abc' }), 'Authorization: Bearer abcdef'],
    [
      'an address',
      local({ AUTH_URL: 'https://login.example/realms/x', SITE: 'https://www.example' }),
      'see https://login.example/realms/x/authorize and https://www.example/a',
    ],
    [
      'a person who writes',
      local({ GIT_AUTHOR_NAME: 'Ada, Countess of Lovelace', KEYCLOAK_REALM: 'realm-of-the-company' }),
      '',
    ],
    [
      'arguments',
      secretsFor({
        command: 'x',
        args: ['-y', 'some-package', '--root', '/srv/a-folder', '--no-auth', 'a-long-positional-word'],
      }),
      'some-package /srv/a-folder a-long-positional-word',
    ],
  ])('%s', (_what, secrets, text) => {
    expect(secrets.redact(text)).toBe(text);
    expect(secrets.redactCredentials(`by Ada, Countess of Lovelace in realm-of-the-company`)).not.toContain('[secret]');
  });

  it('an id in a result, though a key in the path of an address would look like it, and is taken out of errors', () => {
    const secrets = secretsFor({ url: `https://up.example/s/${KEY}/mcp` });
    expect([secrets.redactCredentials(KEY), secrets.redact(KEY)]).toEqual([KEY, '[secret]']);
  });

  it('an e-mail address in a result, though its variable is named like a credential', () => {
    const text = 'assigned to ada.lovelace@example.com';
    expect(local({ JIRA_AUTH_EMAIL: 'ada.lovelace@example.com' }).redactCredentials(text)).toBe(text);
  });

  it('the words of the protocol in a result that says that it failed', () => {
    const secrets = local({ A: 'content', B: 'resource', C: 'image/png', D: 'isError', E: 'hunter22' });
    const block = (text: string) => ({ type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', text } });
    expect(redactResult({ content: [block('it was hunter22')], isError: true }, secrets)).toEqual({
      content: [block('it was [secret]')],
      isError: true,
    });
  });
});
