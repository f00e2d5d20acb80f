/** The shapes of tool results and of their content (MCP 2025-11-25 and 2026-07-28, "Tools": "Tool Result"). */

/** What every handler may return: text blocks, and whether the call failed. */
export interface ToolResponse {
  readonly content: ReadonlyArray<{ readonly type: 'text'; readonly text: string }>;
  readonly isError?: boolean;
}

/** What the text helpers return: a {@link ToolResponse} that `CallToolResult` of either SDK generation accepts. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  isError?: boolean;
  [key: string]: unknown;
}

/** Who a block is for, and how much it matters. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[];
  /** From 0 (may be dropped) to 1 (must be seen). */
  priority?: number;
  /** ISO 8601, with a time zone. */
  lastModified?: string;
}

/** Free metadata under namespaced keys (`vendor/name`). Must be JSON. */
export type Meta = Record<string, unknown>;

export interface TextBlock {
  type: 'text';
  text: string;
  annotations?: ContentAnnotations;
  _meta?: Meta;
}

export interface ImageBlock {
  type: 'image';
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: ContentAnnotations;
  _meta?: Meta;
}

export interface AudioBlock {
  type: 'audio';
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: ContentAnnotations;
  _meta?: Meta;
}

export interface ResourceLinkBlock {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** For people to tell it by; `sizes` as `48x48` or `any`. */
  icons?: { src: string; mimeType?: string; sizes?: string[]; theme?: 'light' | 'dark' }[];
  annotations?: ContentAnnotations;
  _meta?: Meta;
}

export interface EmbeddedResourceBlock {
  type: 'resource';
  resource:
    | { uri: string; mimeType?: string; text: string; _meta?: Meta }
    | { uri: string; mimeType?: string; blob: string; _meta?: Meta };
  annotations?: ContentAnnotations;
  _meta?: Meta;
}

export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | EmbeddedResourceBlock;

/** A result with content of any kind; accepted by `CallToolResult` of either SDK generation. */
export interface ContentResult {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Meta;
  [key: string]: unknown;
}

/** Any result that a helper of this package reads: its own, one of an SDK, or one that was built by hand. */
export interface AnyToolResult {
  readonly content: readonly AnyContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Meta> | undefined;
}

/** A block whose optional fields may also be there and undefined, as the types of the SDKs have it. */
export type AnyContentBlock = Loose<ContentBlock>;

type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Partial<Pick<T, K>> extends Pick<T, K> ? Loose<T[K]> | undefined : Loose<T[K]> }
    : T;
