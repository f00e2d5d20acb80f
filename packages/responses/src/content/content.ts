/** Results of one block: text, image, audio, a link to a resource, a resource itself. */

import { brand } from '../brand.js';
import { checkObject } from '../check.js';
import { typed } from '../response-error.js';
import type { ContentAnnotations, ContentBlock, ContentResult, Meta, ResourceLinkBlock } from '../types.js';
import { type BinaryInput, toBase64 } from './base64.js';
import { checkBlock } from './check-block.js';

/** What any block may carry besides its content. */
export interface BlockOptions {
  /** For whom, how important, how old. `lastModified` may be a `Date`. */
  annotations?: Omit<ContentAnnotations, 'lastModified'> & { lastModified?: string | Date };
  _meta?: Meta;
}

/** A link's fields: `uri` and `name`, and what else is known. */
export type ResourceLinkOptions = Omit<ResourceLinkBlock, 'type' | 'annotations' | '_meta'> & BlockOptions;

/** A resource's fields: its `uri`, and either `text` or `blob` (bytes or base64). */
export type EmbeddedResourceOptions = BlockOptions & { uri: string; mimeType?: string } & (
    | { text: string; blob?: never }
    | { blob: BinaryInput; text?: never }
  );

/**
 * A text block, with annotations and `_meta` if given. All builders of this file throw `ResponseError` `INVALID_CONTENT`
 * (or `NOT_JSON` for `_meta`) for what a client would refuse.
 *
 * @example
 * ```ts
 * text('Backup finished.', { annotations: { audience: ['user'], priority: 1 } });
 * ```
 */
export function text(content: string, options: BlockOptions = {}): ContentResult {
  return single(() => ({ type: 'text', text: content }), options, 'text');
}

/** An image from bytes or base64: `image(png, 'image/png')`. */
export function image(data: BinaryInput, mimeType: string, options: BlockOptions = {}): ContentResult {
  return single(() => ({ type: 'image', data: toBase64(data, 'image.data'), mimeType }), options, 'image');
}

/** Sound from bytes or base64: `audio(wav, 'audio/wav')`. */
export function audio(data: BinaryInput, mimeType: string, options: BlockOptions = {}): ContentResult {
  return single(() => ({ type: 'audio', data: toBase64(data, 'audio.data'), mimeType }), options, 'audio');
}

/** A link that the client may read later: `resourceLink({ uri: 'file:///a.md', name: 'a.md' })`. */
export function resourceLink(link: ResourceLinkOptions): ContentResult {
  return single(
    () => {
      const { annotations: _read, _meta: _later, ...fields } = link;
      return { type: 'resource_link', ...fields };
    },
    link,
    'resource_link',
  );
}

/** A resource within the answer: `embeddedResource({ uri: 'file:///a.md', text })`. */
export function embeddedResource(given: EmbeddedResourceOptions): ContentResult {
  return single(
    () => {
      const { annotations: _read, _meta: _later, blob, ...fields } = given;
      const resource = blob === undefined ? fields : { ...fields, blob: toBase64(blob, 'resource.blob') };
      return { type: 'resource', resource };
    },
    given,
    'resource',
  );
}

/** What was passed in is read within, so that whatever a getter or proxy throws comes out as our error. */
function single(content: () => object, options: BlockOptions, what: string): ContentResult {
  checkObject(options, `${what}: ${what.startsWith('resource') ? 'the first argument' : 'options'}`);
  return typed(() => brand({ content: [block(content(), options, what)] }));
}

function block(content: object, { annotations, _meta }: BlockOptions, what: string): ContentBlock {
  return checkBlock(
    {
      ...content,
      ...(annotations === undefined ? {} : { annotations: readAnnotations(annotations) }),
      ...(_meta === undefined ? {} : { _meta }),
    },
    what,
  );
}

function readAnnotations(annotations: NonNullable<BlockOptions['annotations']>): unknown {
  const { lastModified } = annotations;
  if (!(lastModified instanceof Date)) return annotations;
  // An invalid date has no ISO form: the check names it, rather than `toISOString` throwing.
  return {
    ...annotations,
    lastModified: Number.isNaN(lastModified.getTime()) ? 'invalid' : lastModified.toISOString(),
  };
}
