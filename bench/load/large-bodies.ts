import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';

/**
 * Posts large messages as JSON, over and over: a process of its own, which prints `begun` when the first was answered, and goes
 * on until it is killed. Those that are told to come again do.
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '' },
    path: { type: 'string', default: '' },
    key: { type: 'string', default: '' },
    connections: { type: 'string', default: '16' },
    bytes: { type: 'string', default: '25000000' },
  },
});

const file = Buffer.alloc(Math.floor((Number(values.bytes) / 4) * 3), 'large').toString('base64');
const body = Buffer.from(
  JSON.stringify({
    from: 'large@example.com',
    to: 'a@example.net',
    subject: 'large',
    text: 'large',
    attachments: [{ filename: 'large.bin', content: file }],
  }),
);
const headers = {
  authorization: `Bearer ${values.key}`,
  'content-type': 'application/json',
  'content-length': body.length,
};
const agent = new Agent({ keepAlive: true });
const options = { host: '127.0.0.1', port: Number(values.port), path: values.path, agent, headers };
/** Accepted, or no room at the moment. */
const EXPECTED = [202, 503];
let isTold = false;

function post(): void {
  request({ ...options, method: 'POST' }, (response) => {
    const { statusCode = 0 } = response;
    if (!EXPECTED.includes(statusCode)) fail(new Error(`a large message was answered ${statusCode}`));
    if (!isTold) process.stdout.write('begun\n');
    isTold = true;
    response.resume().on('end', post);
  })
    .on('error', fail)
    .end(body);
}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

for (let place = 0; place < Number(values.connections); place++) post();
