// Ends with 0 when this container's server says that it does its work. The certificate is its own: nothing but this
// machine is spoken to.
import { request } from 'node:https';

const port = Number(process.env.WAYBILL_WEBUI__PORT ?? 8420);
const asked = request(
  { host: '127.0.0.1', port, path: process.argv[2] ?? '/health', rejectUnauthorized: false, timeout: 4000 },
  (answer) => process.exit(answer.statusCode === 200 ? 0 : 1),
);
asked.on('timeout', () => process.exit(1));
asked.on('error', () => process.exit(1));
asked.end();
