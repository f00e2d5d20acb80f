export type * from './backend.js';
export { STAMP_BYTES } from './backend.js';
export * from './backends/memory.js';
export * from './errors.js';
export type * from './types.js';
