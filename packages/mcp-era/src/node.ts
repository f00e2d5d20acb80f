export { createFileEraCache, type FileEraCacheOptions } from './file-cache.js';
