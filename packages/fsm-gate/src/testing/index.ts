export { gateStoreChecks, type StoreCheck, type StoreUnderTest } from './store-checks.js';
