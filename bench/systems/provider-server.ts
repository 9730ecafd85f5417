import { createServer } from 'node:http';

/**
 * A provider's API that takes everything and keeps nothing: listens on the port given first, ends after as many messages
 * as are given second, and writes how many it has taken as `smtp-sink -c` does. Its answer satisfies every provider.
 */
const count = Number(process.argv[3]);
const REPORT_MS = 50;

let taken = 0;
const report = () => process.stdout.write(`mesg=${taken}\r`);

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    taken++;
    const id = `message-${taken}`;
    const answer = JSON.stringify({ MessageId: id, MessageID: id, id, ErrorCode: 0 });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer, () => {
      if (taken < count) return;
      report();
      process.exit(0);
    });
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
setInterval(report, REPORT_MS);
