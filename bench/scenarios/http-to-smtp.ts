import { runSmtpSource } from '../load/smtp-source.ts';
import { runHttpLoad } from '../load/start.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import { startSink } from '../systems/sink.ts';
import { startWaybill } from '../systems/waybill.ts';
import { measureToTheEnd, WARM_UP_MESSAGES } from './end-to-end.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** The main job, from the first post to the last delivery, beside Postfix doing the same. */
export const httpToSmtp: Scenario = {
  name: 'http-to-smtp',
  shows:
    '5 KB messages from the first post (50 connections) to the last delivery, beside Postfix and smtp-source',
  sides: [
    { name: 'Waybill', missing: () => null, run: runWaybill },
    { name: 'Postfix', missing: postfixMissing, run: runPostfix },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', atLeast: 7 },
    { metric: 'cpuSecondsPer1000', of: 'ratio', atMost: 1 / 9 },
  ],
};

async function runWaybill(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + options.messages);
  const waybill = await startWaybill({ ...options, relayPort: sink.port });
  const load = { port: waybill.apiPort, key: waybill.key, path: '/api/v1/messages', connections: 50 };
  return measureToTheEnd(waybill, sink, options.messages, async (messages) => {
    const { p50Ms, p99Ms } = await runHttpLoad({ ...load, amount: { messages } });
    return { p50Ms, p99Ms };
  });
}

async function runPostfix(options: RunOptions): Promise<Sample> {
  const sink = await startSink(options.directory, WARM_UP_MESSAGES + options.messages);
  const postfix = await startPostfix({ ...options, relayPort: sink.port });
  const load = { port: postfix.smtpPort, sessions: 20, sizeBytes: 5120, keepConnections: false };
  return measureToTheEnd(postfix, sink, options.messages, async (messages) => {
    await runSmtpSource({ ...load, messages });
    return {};
  });
}
