export { createStoreEraCache, type EraStore, parseEraRecord, type StoreEraCacheOptions } from './store-cache.js';
