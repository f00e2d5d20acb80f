/** Figures of this package; what each table shows is in its title. `pnpm bench` runs it. */
import { benchCompact } from './compact.js';
import { benchEstimate } from './estimate.js';
import { benchSuccess } from './success.js';
import { benchTokens } from './tokens.js';

benchTokens();
benchEstimate();
await benchSuccess();
await benchCompact();
