/** Options of the ranked search: every table can be switched off or replaced. */

export interface ToolSearchOptions {
  /** Hits of one answer. Default 10. */
  readonly limit?: number;
  /** What the text of one search answer may cost, in (estimated) tokens; at least one hit is always shown. Default 800. */
  readonly maxTokens?: number;
}
