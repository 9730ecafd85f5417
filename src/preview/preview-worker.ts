import { parentPort } from 'node:worker_threads';
import { parseMessage } from './parse.ts';
import { PreviewError } from './parsed.ts';

/** Parses one message after the other for the thread that started this one; see `previewer.ts`. */
const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');
port.on('message', (bytes: Uint8Array) => {
  void parseMessage(bytes).then(
    (message) => port.postMessage({ message }),
    (error: unknown) =>
      port.postMessage({ fault: error instanceof PreviewError ? error.message : String(error) }),
  );
});
