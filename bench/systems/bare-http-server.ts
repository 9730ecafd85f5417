import { createServer } from 'node:http';

/**
 * The roof for anything that speaks HTTP from Node: it reads each request, keeps nothing, does nothing, and
 * answers 202. Listens on the port given as its only argument.
 */
const ANSWER = JSON.stringify({ id: 'none', message: 'Queued for delivery.', status: 'queued' });

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(202, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
