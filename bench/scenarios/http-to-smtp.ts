import { latenciesOf } from '../load/load-report.ts';
import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { bullmqMissing, startBullmq } from '../systems/bullmq.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import { startSink } from '../systems/sink.ts';
import type { StartPoster } from '../systems/system.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd } from './end-to-end.ts';
import { BULLMQ, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const CONNECTIONS = 50;

/** The main job, from the first post to the last delivery, beside a job queue and Postfix doing the same. */
export const httpToSmtp: Scenario = {
  name: 'http-to-smtp',
  shows: '5 KB messages from the first post (50 connections; Postfix: smtp-source) to the last delivery',
  sides: [
    { name: 'Waybill', missing: () => null, run: (options) => runPosted(startWaybill, options) },
    { name: BULLMQ, missing: bullmqMissing, run: (options) => runPosted(startBullmq, options) },
    { name: 'Postfix', missing: postfixMissing, isCompiled: true, run: runPostfix },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', to: BULLMQ, atLeast: 2.2, aim: 5 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', to: BULLMQ, atMost: 0.42, aim: 0.2 },
  ],
};

async function runPosted(start: StartPoster, options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const system = await start({ ...options, relayPort: sink.port });
  const to = { port: system.httpPort, key: system.key, path: system.paths.json };
  const load = { ...to, connections: CONNECTIONS };
  return measureToTheEnd(system, sink, options, async (messages) =>
    latenciesOf(await runHttpLoad({ ...load, amount: { messages } })),
  );
}

async function runPostfix(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, options.warmUp + options.messages);
  const postfix = await startPostfix({ ...options, relayPort: sink.port });
  const load = { port: postfix.smtpPort, sessions: 20, sizeBytes: 5120, keepConnections: false };
  return measureToTheEnd(postfix, sink, options, async (messages) => {
    await runSmtpSource({ ...load, messages });
    return {};
  });
}
