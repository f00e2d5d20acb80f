/** `_meta` that a caller passes in. */
import { checkObject } from '../check.js';
import type { Meta } from '../types.js';
import { jsonCopy } from './copy.js';

/** A copy of `meta`, which may be left out. @throws ResponseError `INVALID_OPTION` | `NOT_JSON` */
export function readOptionalMeta(meta: Meta | undefined, helper: string): Meta {
  if (meta === undefined) return {};
  checkObject(meta, `${helper}: _meta`);
  return jsonCopy(meta);
}
