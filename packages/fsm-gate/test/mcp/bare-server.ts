/** The least that `attachGate` takes for a server: these handlers, and nothing of what an SDK does or costs. */
export type BareHandler = (request: unknown, context: unknown) => unknown;

export function bareServer(handlers: Readonly<Record<string, BareHandler>>) {
  const server = {
    _requestHandlers: new Map<string, BareHandler>(Object.entries(handlers)),
    setRequestHandler: () => {},
    assertCanSetRequestHandler: (method: string) => {
      if (server._requestHandlers.has(method)) throw new Error(method);
    },
    connect: async () => {},
    sendToolListChanged: async () => {},
    sendPromptListChanged: async () => {},
    sendResourceListChanged: async () => {},
  };
  return server;
}
