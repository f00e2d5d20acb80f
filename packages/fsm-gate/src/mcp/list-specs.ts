/** The methods whose lists are filtered, and how their items are told to be closed. */
import { type BoundNames, type GatedList, promptName, resourceName } from './names.js';

/** How a list method is filtered. */
export interface ListSpec {
  readonly method: string;
  readonly list: GatedList;
  /** Where the items are in the result. */
  readonly field: string;
  /** Whether an item is among the closed names. Runs for every item of every list. */
  readonly isClosed: (item: Readonly<Record<string, unknown>>, closed: ReadonlySet<unknown>) => boolean;
}

export function listSpecs(names: BoundNames): readonly ListSpec[] {
  return [
    {
      method: 'tools/list',
      list: 'tools',
      field: 'tools',
      isClosed: ({ name }, closed) => closed.has(name),
    },
    {
      method: 'prompts/list',
      list: 'prompts',
      field: 'prompts',
      isClosed: ({ name }, closed) => closed.has(promptName(String(name))),
    },
    {
      method: 'resources/list',
      list: 'resources',
      field: 'resources',
      isClosed: ({ uri }, closed) => names.resource(uri).some((name) => closed.has(name)),
    },
    {
      method: 'resources/templates/list',
      list: 'resources',
      field: 'resourceTemplates',
      isClosed: ({ uriTemplate }, closed) => closed.has(resourceName(String(uriTemplate))),
    },
  ];
}
