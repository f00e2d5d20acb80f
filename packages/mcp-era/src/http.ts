export { answerFromMessage } from './answer.js';
export type { EraAsker } from './discover-request.js';
export { answerFromHttp, type HttpAnswer } from './http-answer.js';
export { createHttpProbe, type EraFetch, type HttpProbeOptions } from './http-probe.js';
export type { SetTimer } from './timer.js';
