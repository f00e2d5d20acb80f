/** What both SDK generations say of a result, as it is and after the wire. */
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import { expect } from 'vitest';

/** Fails unless the schemas of SDK v1 and v2 accept `result`, before and after it went through JSON. */
export function expectAcceptedByBothSdks(
  result: unknown,
  { modernOnly = false, wire = true }: { modernOnly?: boolean; wire?: boolean } = {},
): void {
  for (const form of wire ? [result, JSON.parse(JSON.stringify(result))] : [result]) {
    if (!modernOnly) expect(CallToolResultSchema.safeParse(form).error).toBeUndefined();
    const second = specTypeSchemas.CallToolResult['~standard'].validate(form);
    if (second instanceof Promise) throw new Error('the v2 schema answers synchronously');
    expect(second.issues).toBeUndefined();
  }
}

/** The one text of a result. */
export function textOf(result: { content: readonly { type: string; text?: string }[] }): string {
  expect(result.content).toHaveLength(1);
  return result.content[0]?.text ?? '';
}
