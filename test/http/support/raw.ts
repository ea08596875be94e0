import { connect } from 'node:net';

/** Sends bytes as they are to the server at `url`, and returns all that comes back until the server closes or falls silent. */
export const raw = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
