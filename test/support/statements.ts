import { startTcpProxy } from './tcp-proxy.ts';

/** What clients of a database send to it, by the protocol of Postgres. */
export interface WatchedPostgres {
  /** To connect to instead. */
  readonly url: string;
  /** Begins to count anew. */
  forget(): void;
  /** How often a prepared statement was executed. */
  count(name: string): number;
  /** Statements without BEGIN and COMMIT; messages, whatever they hold; and transactions that were committed. */
  sums(): { readonly statements: number; readonly messages: number; readonly commits: number };
  close(): Promise<void>;
}

const CONTROL = new Set(['begin', 'commit', 'rollback']);

export async function watchStatements(databaseUrl: string): Promise<WatchedPostgres> {
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  const rests = new Map<number, Buffer>();
  let names: string[] = [];
  let messages = 0;
  let commits = 0;

  function executed(text: string): void {
    const control = text.toLowerCase();
    if (control === 'commit') commits += 1;
    if (!CONTROL.has(control)) names.push(text);
  }

  proxy.onSent = (bytes, connection) => {
    const before = rests.get(connection);
    // The first packet of a connection has no type.
    let rest = before === undefined ? bytes.subarray(bytes.readInt32BE(0)) : Buffer.concat([before, bytes]);
    let isMessage = false;
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      const type = String.fromCharCode(rest[0] ?? 0);
      const body = rest.subarray(5, end);
      rest = rest.subarray(end);
      if (type === 'Q') executed(body.subarray(0, -1).toString());
      // Bind: the portal, which has no name here, then the statement.
      if (type === 'B') executed(body.subarray(1, body.indexOf(0, 1)).toString());
      if (type === 'Q' || type === 'B') isMessage = true;
    }
    if (isMessage) messages += 1;
    rests.set(connection, rest);
  };
  return {
    url: url.href,
    forget() {
      names = [];
      messages = 0;
      commits = 0;
    },
    count: (name) => names.filter((one) => one === name).length,
    sums: () => ({ statements: names.length, messages, commits }),
    close: () => proxy.close(),
  };
}
