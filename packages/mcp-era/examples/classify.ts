// #region classify
import { classifyEraAnswer, ERA_RULES } from '@mcp-interlock/mcp-era';
import { answerFromHttp } from '@mcp-interlock/mcp-era/http';

const body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}';
for (const status of [404, 400]) {
  const verdict = classifyEraAnswer(answerFromHttp({ status, body }), { transport: 'http' });
  console.log(verdict.kind, '-', verdict.evidence.rule, '-', verdict.evidence.section);
}
console.log(Object.keys(ERA_RULES).length, 'rules');
// modern - 404 with -32601 - basic/transports/streamable-http#protocol-version-header
// legacy - 400, 404 or 405 without a modern error - basic/transports/streamable-http#backward-compatibility
// 20 rules
// #endregion
