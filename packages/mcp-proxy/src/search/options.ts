/** Options of the ranked search: every table can be switched off or replaced. */

export interface ToolSearchOptions {
  /** Hits of one answer. Default 10. */
  readonly limit?: number;
}
