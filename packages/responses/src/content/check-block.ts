/** Whether a content block is one that clients of both eras accept (MCP 2026-07-28, schema: `ContentBlock`). */

import { jsonCopy } from '../json/copy.js';
import { ResponseError } from '../response-error.js';
import type { ContentBlock, Meta } from '../types.js';
import { checkedBase64 } from './base64.js';

/** A copy of `block`, if every client can read it. `what` names it in the error. */
export function checkBlock(block: unknown, what: string): ContentBlock {
  const copy = jsonCopy(withoutUndefined(record(block, what), 2));
  checkFields(copy, what);
  if (copy.annotations !== undefined) checkAnnotations(record(copy.annotations, `${what}.annotations`), what);
  if (copy._meta !== undefined) record(copy._meta, `${what}._meta`);
  return copy as unknown as ContentBlock; // Checked above, field by field.
}

/** An option that was passed on as undefined is one that was not given. */
function withoutUndefined(fields: Record<string, unknown>, levels: number): Record<string, unknown> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (levels === 1) return Object.fromEntries(given);
  return Object.fromEntries(
    given.map(([key, value]) => [
      key,
      isRecord(value) && key !== '_meta' ? withoutUndefined(value, levels - 1) : value,
    ]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `_meta` may hold anything that is JSON; what is kept is a copy. */
export function readMeta(meta: unknown, what: string): Meta {
  return jsonCopy(record(meta, `${what}._meta`));
}

function checkFields(block: Record<string, unknown>, what: string): void {
  switch (block.type) {
    case 'text':
      checkText(block.text, `${what}.text`);
      break;
    case 'image':
    case 'audio':
      checkedBase64(block.data, `${what}.data`);
      checkMimeType(block.mimeType, what);
      break;
    case 'resource_link':
      checkLink(block, what);
      break;
    case 'resource':
      checkResource(record(block.resource, `${what}.resource`), `${what}.resource`);
      break;
    default:
      refuse(`${what}.type is '${String(block.type)}'; it must be text, image, audio, resource_link or resource`);
  }
}

function checkLink(link: Record<string, unknown>, what: string): void {
  checkUri(link.uri, what);
  if (typeof link.name !== 'string' || link.name === '') refuse(`${what}.name must be a string that is not empty`);
  if (link.title !== undefined) checkText(link.title, `${what}.title`);
  if (link.description !== undefined) checkText(link.description, `${what}.description`);
  if (link.mimeType !== undefined) checkMimeType(link.mimeType, what);
  if (link.size !== undefined && !(Number.isSafeInteger(link.size) && Number(link.size) >= 0)) {
    refuse(`${what}.size must be a whole number of bytes`);
  }
  if (link.icons !== undefined && !(Array.isArray(link.icons) && link.icons.every(isIcon))) {
    refuse(`${what}.icons must be a list of { src, mimeType?, sizes?, theme? } with texts`);
  }
}

function isIcon(icon: unknown): boolean {
  if (!isRecord(icon) || typeof icon.src !== 'string') return false;
  const { mimeType, sizes, theme } = icon;
  return (
    (mimeType === undefined || typeof mimeType === 'string') &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

function checkResource(resource: Record<string, unknown>, what: string): void {
  checkUri(resource.uri, what);
  if (resource.mimeType !== undefined) checkMimeType(resource.mimeType, what);
  if (resource._meta !== undefined) record(resource._meta, `${what}._meta`);
  if ((resource.text === undefined) === (resource.blob === undefined)) refuse(`${what} must have either text or blob`);
  if (resource.blob === undefined) checkText(resource.text, `${what}.text`);
  else checkedBase64(resource.blob, `${what}.blob`);
}

const ISO_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function checkAnnotations(annotations: Record<string, unknown>, what: string): void {
  const { audience, priority, lastModified } = annotations;
  if (
    audience !== undefined &&
    !(Array.isArray(audience) && audience.every((a) => a === 'user' || a === 'assistant'))
  ) {
    refuse(`${what}.annotations.audience must be a list of 'user' and 'assistant'`);
  }
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1)) {
    refuse(`${what}.annotations.priority must be a number from 0 to 1`);
  }
  if (
    lastModified !== undefined &&
    !(typeof lastModified === 'string' && ISO_DATE_TIME.test(lastModified) && !Number.isNaN(Date.parse(lastModified)))
  ) {
    refuse(`${what}.annotations.lastModified must be an ISO 8601 date and time with a zone`);
  }
}

function record(value: unknown, what: string): Record<string, unknown> {
  return isRecord(value) ? value : refuse(`${what} must be an object`);
}

function checkText(value: unknown, what: string): void {
  if (typeof value !== 'string') refuse(`${what} must be a string`);
}

function checkMimeType(value: unknown, what: string): void {
  if (typeof value !== 'string' || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/.test(value)) {
    refuse(`${what}.mimeType must be a media type such as 'image/png'`);
  }
}

function checkUri(value: unknown, what: string): void {
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9+.-]*:\S/.test(value)) {
    refuse(`${what}.uri must be an absolute URI such as 'file:///notes.md'`);
  }
}

function refuse(reason: string): never {
  throw new ResponseError('INVALID_CONTENT', `${reason}.`);
}
