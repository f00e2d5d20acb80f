/** Replaces `${VAR}` and `${VAR:-default}` in the strings of a server's configuration. */
import { ConfigError } from './errors.js';

/** Looks a variable up; undefined when it is not set. */
export type VariableLookup = (name: string) => string | undefined;

/** Where a string stands, for the error that names it. */
export interface ExpandPlace {
  readonly serverName: string;
  /** Dotted path inside the server's entry, such as `env.TOKEN`. */
  readonly field: string;
}

// `${env:VAR}` is how one family of editors writes the same thing. Their other kinds (`${input:token}`) only they can fill in.
const VARIABLE = /\$\{(?:([a-z]+):(?!-))?([A-Za-z_][\w.-]*?)(?::-([^}]*))?\}/g;

/**
 * Expands every variable of `text`. A default also stands in for an empty variable, as in a shell.
 *
 * @throws {ConfigError} `CONFIG_VARIABLE_MISSING` naming variable, field and server.
 * @example expandVariables('Bearer ${TOKEN}', fromEnvironment(process.env), { serverName: 'github', field: 'headers.Authorization' })
 */
export function expandVariables(text: string, lookUp: VariableLookup, place: ExpandPlace): string {
  return text.replace(VARIABLE, (whole, kind: string | undefined, name: string, fallback: string | undefined) => {
    if (kind !== undefined && kind !== 'env') {
      throw new ConfigError(
        'CONFIG_VARIABLE_MISSING',
        `Server "${place.serverName}": ${place.field} uses ${whole}, which only the editor that wrote it can fill in. ` +
          `Put the value into an environment variable and write \${env:NAME}.`,
      );
    }
    const value = lookUp(name);
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new ConfigError(
      'CONFIG_VARIABLE_MISSING',
      `Server "${place.serverName}": ${place.field} uses \${${name}}, which is not set. ` +
        `Set ${name} in the environment, or give a default: \${${name}:-value}.`,
    );
  });
}

/** Expands the values of a record; the keys stay as they are. */
export function expandRecord(
  record: Readonly<Record<string, string>>,
  lookUp: VariableLookup,
  place: ExpandPlace,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      expandVariables(value, lookUp, { serverName: place.serverName, field: `${place.field}.${key}` }),
    ]),
  );
}

/** Looks variables up in an environment such as `process.env`, and nowhere up its prototype chain. */
export function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): VariableLookup {
  return (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined);
}
