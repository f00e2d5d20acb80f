/** Catalogues of any size, made of what tools are usually called and described as. */
import type { ListedTool } from '../../src/index.js';

const VERBS =
  'create read update delete list search export import merge archive publish schedule validate convert sync'.split(' ');
const THINGS =
  'invoice customer order ticket repository branch document page image video message channel contact event calendar report dataset query table column index user role permission webhook deployment container cluster secret key token payment refund product coupon cart shipment address route station forecast article note task project milestone comment review'.split(
    ' ',
  );
const QUALITIES = 'pending recent archived public private shared scheduled failed large encrypted'.split(' ');

/** `count` tools on servers of 40 tools each; the same ones every time. */
export function aCatalogue(count: number): ListedTool[] {
  return Array.from({ length: count }, (_, index) => {
    const verb = VERBS[index % VERBS.length]!;
    const thing = THINGS[Math.floor(index / VERBS.length) % THINGS.length]!;
    const quality = QUALITIES[Math.floor(index / (VERBS.length * THINGS.length)) % QUALITIES.length]!;
    return {
      serverName: `server-${Math.floor(index / 40)}`,
      tool: {
        name: `${verb}_${quality}_${thing}_${index}`,
        description: `${verb} one or several ${quality} ${thing}s of the current workspace. Returns the ${thing} with its id, its owner and the time of its last change; fails when the ${thing} does not exist or the caller may not ${verb} it.`,
        inputSchema: {
          type: 'object',
          properties: {
            [`${thing}_id`]: { type: 'string', description: `Which ${thing} to ${verb}` },
            limit: { type: 'integer', description: 'How many at most', default: 20 },
            fields: { type: 'array', items: { type: 'string' }, description: `Fields of the ${thing} to return` },
          },
          required: [`${thing}_id`],
        },
      },
    };
  });
}

const WISHES: readonly string[] = [
  'merge two branches of the repository',
  'find unpaid invoices of a customer and send a message about them',
  'save the report to /tmp/report.md and list the failed deployments',
  'schedule an event in the calendar, then invite the contacts',
  'rotate the secret key of the cluster',
  'what is the weather forecast near the station tomorrow',
  'refund a payment and cancel the shipment of the order',
  'export a large dataset as csv, validate it and publish the article',
  'delete archived notes',
  'who may read private documents',
];

/** Distinct queries of one to three wishes about different things. */
export const QUERIES: readonly string[] = Array.from({ length: 300 }, (_, index) => {
  const wish = WISHES[index % WISHES.length]!;
  const thing = THINGS[(index * 7) % THINGS.length]!;
  const verb = VERBS[(index * 3) % VERBS.length]!;
  return index % 3 === 0 ? `${verb} the ${thing}` : `${wish}; ${verb} every ${thing} of last week`;
});
