import type { Form } from '../load/http-bodies.ts';
import { latenciesOf } from '../load/load-report.ts';
import { runHttpLoad } from '../load/start.ts';
import { costBetween, readMeters } from '../measure/meter.ts';
import { startBareHttp } from '../systems/bare-http.ts';
import { bullmqMissing, startBullmq } from '../systems/bullmq.ts';
import { startSink } from '../systems/sink.ts';
import type { StartPoster } from '../systems/system.ts';
import { startWaybill } from '../systems/waybill.ts';
import { BULLMQ, type RunOptions, type Sample, type Scenario, type Side, warmedUpBy } from './scenario.ts';

/** What is posted, and how. */
export interface PostLoad {
  readonly form: Form;
  readonly sizeBytes: number;
  readonly connections: number;
  readonly tls?: boolean;
}

const CONNECTIONS = 50;
const SMALL: PostLoad = { form: 'json', sizeBytes: 5120, connections: CONNECTIONS };

/** How fast messages become ours for good, beside a job queue that flushes too, and a server that promises nothing. */
export const httpAccept: Scenario = {
  name: 'http-accept',
  shows: '50 connections post 5 KB of JSON; accepted durably while delivery runs',
  sides: [
    ...sides(SMALL),
    { name: 'bare node:http', missing: () => null, run: (options) => runBare(options) },
  ],
  targets: [
    { metric: 'messagesPerSecond', of: 'ratio', to: BULLMQ, atLeast: 1.4, aim: 3.2 },
    { metric: 'p99Ms', of: 'value', atMost: 30, aim: 12 },
    { metric: 'flushesPerMessage', of: 'value', atMost: 0.08, aim: 0.05 },
    { metric: 'writtenKiB', of: 'value', atMost: 14, aim: 10 },
  ],
};

/** The same as a form. */
export const httpAcceptForm: Scenario = {
  name: 'http-accept-form',
  shows: '50 connections post forms of 5 KB; accepted durably while delivery runs',
  sides: sides({ ...SMALL, form: 'multipart' }),
  targets: [],
};

/** A form with an attachment, where bytes weigh more than fields. */
export const httpAcceptForm1m: Scenario = {
  name: 'http-accept-form-1m',
  shows: '20 connections post forms of 1 MB, most of it an attachment; accepted durably while delivery runs',
  sides: sides({ form: 'multipart', sizeBytes: 1024 * 1024, connections: 20 }),
  targets: [],
};

/** JSON over TLS. */
export const httpAcceptTls: Scenario = {
  name: 'http-accept-tls',
  shows: '50 connections post 5 KB of JSON over TLS; accepted durably while delivery runs',
  sides: sides({ ...SMALL, tls: true }),
  targets: [],
};

function sides(load: PostLoad): readonly [Side, ...Side[]] {
  return [
    { name: 'Waybill', missing: () => null, run: (options) => postAndDeliver(startWaybill, load, options) },
    { name: BULLMQ, missing: bullmqMissing, run: (options) => postAndDeliver(startBullmq, load, options) },
  ];
}

/** Posts for a time, while what is accepted is delivered into a sink. */
export async function postAndDeliver(
  start: StartPoster,
  load: PostLoad,
  options: RunOptions,
): Promise<Sample> {
  const sink = await startSink(options.directory);
  const sample = await post(start, load, { ...options, relayPort: sink.port }, () => sink.taken());
  await sink.stop();
  return sample;
}

async function runBare(options: RunOptions): Promise<Sample> {
  const measured = await post(startBareHttp, SMALL, { ...options, relayPort: 0 }, () => 0);
  const { deliveredShare: _delivered, flushesPerMessage: _flushes, ...sample } = measured;
  return sample;
}

async function post(
  start: StartPoster,
  { form, sizeBytes, connections, tls = false }: PostLoad,
  options: RunOptions & { readonly relayPort: number },
  delivered: () => number,
): Promise<Sample> {
  const system = await start({ ...options, tls });
  const to = { port: system.httpPort, key: system.key, path: system.paths[form] };
  const load = { ...to, connections, form, sizeBytes, tls };
  await runHttpLoad({ ...load, amount: { messages: warmedUpBy(options, sizeBytes).warmUp } });
  const before = readMeters(system);
  const deliveredBefore = delivered();
  const report = await runHttpLoad({ ...load, amount: { seconds: options.seconds } });
  const after = readMeters(system);
  const deliveredNow = delivered() - deliveredBefore;
  await system.stop();
  return {
    messagesPerSecond: report.accepted / report.seconds,
    ...latenciesOf(report),
    deliveredShare: deliveredNow / report.accepted,
    ...costBetween(before, after, report.accepted),
  };
}
