import { startSmtpSink } from '../../test/peers/smtp-sink.ts';

/**
 * The stand-in for Postfix's `smtp-sink`: listens on the port given first, ends after as many messages as are
 * given second, and writes how many it has taken as `smtp-sink -c` does.
 * Like `smtp-sink`, it ends before the last message is answered.
 */
const sink = await startSmtpSink({ port: Number(process.argv[2]), keep: 'count' });
const report = () => process.stdout.write(`mesg=${sink.taken}\r`);
setInterval(report, 50);
await sink.until(() => sink.taken >= Number(process.argv[3]));
report();
process.exit(0);
