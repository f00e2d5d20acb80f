// #region given
import {
  audio,
  compact,
  embeddedResource,
  error,
  fit,
  fromError,
  fromZodError,
  image,
  mix,
  required,
  resourceLink,
  structured,
  success,
  text,
  toolError,
  toonSuccess,
  unknownAction,
} from '@mcp-interlock/responses';
import { z } from 'zod';

const users = [
  { id: 1, name: 'Ann', role: 'admin' },
  { id: 2, name: 'Bo', role: 'member' },
  { id: 3, name: 'Cy', role: 'member' },
];
const tickets = [
  { id: 7, title: 'Login fails', author: { name: 'Ann', city: 'Bern' }, tags: ['bug'] },
  { id: 8, title: 'Dark mode', author: { name: 'Bo', city: 'Oslo' }, tags: [], due: '2026-12-24' },
];
const png = new Uint8Array([137, 80, 78, 71]);
const shirt = z.object({ color: z.enum(['red', 'blue']), size: z.number() });
const input = { color: 'bleu', size: '7' };
// #endregion

/** What the README's gallery shows; its code, and what it is given, is read from between the `#region` marks. */
export const gallery: Record<string, () => unknown> = {
  // #region success
  success: () => success({ id: 1, name: 'Ann' }),
  // #endregion
  // #region compact
  compact: () => compact(tickets),
  // #endregion
  // #region toonSuccess
  toonSuccess: () => toonSuccess(users),
  // #endregion
  // #region structured
  structured: () =>
    structured({ city: 'Bern', celsius: 21 }, { schema: z.object({ city: z.string(), celsius: z.number() }) }),
  // #endregion
  // #region fit
  fit: () =>
    fit(success(Array.from({ length: 100 }, (_, id) => ({ id }))), {
      maxChars: 240,
      more: ({ shown }) => `call again with offset ${shown}`,
    }),
  // #endregion
  // #region text
  text: () => text('Backup finished.', { annotations: { audience: ['user'], priority: 1 } }),
  // #endregion
  // #region image
  image: () => image(png, 'image/png'),
  // #endregion
  // #region audio
  audio: () => audio('UklGRg==', 'audio/wav'),
  // #endregion
  // #region resourceLink
  resourceLink: () => resourceLink({ uri: 'file:///report.pdf', name: 'report.pdf', mimeType: 'application/pdf' }),
  // #endregion
  // #region embeddedResource
  embeddedResource: () => embeddedResource({ uri: 'file:///notes.md', mimeType: 'text/markdown', text: '# Notes' }),
  // #endregion
  // #region mix
  mix: () => mix('The chart you asked for:', image(png, 'image/png')),
  // #endregion
  // #region error
  error: () => error('Project not found', 'NOT_FOUND'),
  // #endregion
  // #region required
  required: () => required('workspace_id'),
  // #endregion
  // #region toolError
  toolError: () =>
    toolError('CONFLICT', {
      message: 'The invoice was changed by someone else.',
      suggestion: 'Read it again, then repeat the change.',
      availableActions: ['invoices.get'],
      details: { invoice: 'inv_12', version: '4' },
      retryAfter: 2,
    }),
  // #endregion
  // #region unknownAction
  unknownAction: () => unknownAction('list_project', ['projects.get', 'projects.list']),
  // #endregion
  // #region fromZodError
  fromZodError: () => {
    const parsed = shirt.safeParse(input);
    return parsed.success ? success(parsed.data) : fromZodError(parsed.error, { input });
  },
  // #endregion
  // #region fromError
  fromError: () => fromError({ status: 429, headers: { 'retry-after': '30' } }),
  // #endregion
};
