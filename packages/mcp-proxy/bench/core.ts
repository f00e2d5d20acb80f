/** The figures of the pure room: search speed and the tokens of the definition. */
import { definitionTokens } from './core/definition-tokens.js';
import { searchSpeed } from './core/search-speed.js';

const met = [searchSpeed(), definitionTokens()].every(Boolean);
process.exitCode = met ? 0 : 1;
