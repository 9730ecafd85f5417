import { besideLarge } from './beside-large.ts';
import { clientsHttp, clientsSmtp } from './clients.ts';
import { dashboardPage } from './dashboard-page.ts';
import { dashboards } from './dashboards.ts';
import { deepDrain, deepThroughput } from './deep-queue.ts';
import { deepReads } from './deep-reads.ts';
import { dkimEd25519, dkimRsa } from './dkim.ts';
import { drain, drainAfterOutage } from './drain.ts';
import { encrypted } from './encrypted.ts';
import { events } from './events.ts';
import { httpAccept, httpAcceptForm, httpAcceptForm1m, httpAcceptTls } from './http-accept.ts';
import { httpToSmtp } from './http-to-smtp.ts';
import { ingestThreads } from './ingest-threads.ts';
import { manyLanesClaim, manyLanesMemory } from './many-lanes.ts';
import { memory100k } from './memory-100k.ts';
import { oneDeadRelay } from './one-dead-relay.ts';
import { oneSlowDestination } from './one-slow-destination.ts';
import { postgres } from './postgres.ts';
import { postgresBacklog } from './postgres-backlog.ts';
import { providerShapes } from './provider-shapes.ts';
import { providerPostmark, providerSes } from './providers.ts';
import { requestsHttp } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { search } from './search.ts';
import {
  smtpAccept,
  smtpAccept100k,
  smtpAcceptSingle,
  smtpAcceptTls,
  smtpAcceptTlsSingle,
} from './smtp-accept.ts';
import { smtpToSmtp, smtpToSmtp100, smtpToSmtp100k } from './smtp-to-smtp.ts';
import { suppressions } from './suppressions.ts';

/** All that is asked, in the order in which it is asked and shown. */
export const SCENARIOS: readonly Scenario[] = [
  httpAccept,
  httpAcceptForm,
  httpAcceptForm1m,
  httpAcceptTls,
  smtpAccept,
  smtpAcceptSingle,
  smtpAccept100k,
  smtpAcceptTls,
  smtpAcceptTlsSingle,
  httpToSmtp,
  smtpToSmtp,
  smtpToSmtp100,
  smtpToSmtp100k,
  clientsHttp,
  clientsSmtp,
  drain,
  drainAfterOutage,
  oneDeadRelay,
  oneSlowDestination,
  besideLarge,
  deepDrain,
  deepThroughput,
  deepReads,
  search,
  manyLanesClaim,
  manyLanesMemory,
  memory100k,
  providerSes,
  providerPostmark,
  dkimRsa,
  dkimEd25519,
  ...ingestThreads,
  ...events,
  ...suppressions,
  ...encrypted,
  providerShapes,
  requestsHttp,
  dashboards,
  dashboardPage,
  postgres,
  postgresBacklog,
];
