export { explorePaths, type GatePath, type PathOptions, type PathStep } from './paths.js';
export { assertSound, type GateFinding, type GateFindingCode, type VerifyOptions, verifyGate } from './verify.js';
