import type { ProviderName } from '../../domain/drop-in.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Route } from '../../http/router.ts';
import { createTokenSource } from '../../lib/id.ts';
import type { Spool } from '../../spool/spool.ts';
import { answerAct, answerReschedule } from './acts.ts';
import { answerAdmin } from './admin.ts';
import { answerAttempts } from './attempts.ts';
import { answerBatch } from './batch.ts';
import type { Access, Call } from './call.ts';
import {
  ENDPOINT_IDS,
  ENDPOINTS,
  OPEN_ENDPOINTS,
  OPEN_IDS,
  STRANGER_ENDPOINTS,
  STRANGER_IDS,
} from './endpoints.ts';
import { EventTail } from './event-tail.ts';
import { answerEvents } from './events.ts';
import { answerExplain } from './explain.ts';
import { answerEvidence, answerFeedback, answerFeedbackList } from './feedback.ts';
import { CONTENT_PARAMETERS, type Findable, findReadable, openContent, recipientIn } from './find-message.ts';
import { answerHook } from './hook.ts';
import { InProgress } from './idempotency.ts';
import { CapturedMail } from './inbox/captured-mail.ts';
import { CapturedWords } from './inbox/captured-words.ts';
import {
  answerCaptured,
  answerCapturedAttachment,
  answerCapturedList,
  answerCapturedRaw,
} from './inbox/reading.ts';
import { answerCapturedRemoval, answerCapturedRemovals, answerRelease } from './inbox/removing.ts';
import { answerWait } from './inbox/wait.ts';
import { answerList } from './list.ts';
import { mailpitRoutes } from './mailpit/mailpit.ts';
import { descriptionEndpoint } from './openapi/endpoint.ts';
import type { IngestDeps, IngestOptions } from './options.ts';
import { providerRoutes } from './providers/providers.ts';
import { readParameters } from './query.ts';
import { answerHold, answerQueue, answerQueueAct } from './queue.ts';
import { answerRaw } from './raw.ts';
import { answerStatus } from './record.ts';
import { answerRequests } from './requests.ts';
import { answerResend } from './resend.ts';
import type { StrangerHandle } from './strangers.ts';
import { answerPreflight, answerSubmit } from './submit.ts';
import {
  answerSuppressing,
  answerSuppression,
  answerSuppressionCheck,
  answerSuppressionExport,
  answerSuppressionImport,
  answerSuppressionRemoval,
  answerSuppressions,
} from './suppressions.ts';
import {
  answerTemplate,
  answerTemplatePublication,
  answerTemplateRemoval,
  answerTemplateRendering,
  answerTemplateSaving,
  answerTemplates,
} from './templates.ts';
import { RenderableTemplates } from './templating.ts';
import { showUnsubscribe, takeUnsubscribe } from './unsubscribe.ts';
import { Watchers } from './watchers.ts';
import {
  answerNewWebhook,
  answerWebhook,
  answerWebhookChange,
  answerWebhookDeliveries,
  answerWebhookRemoval,
  answerWebhookReplay,
  answerWebhookRetry,
  answerWebhookRotation,
  answerWebhooks,
  answerWebhookTest,
} from './webhooks.ts';

/** The handler of each endpoint. */

/** What a path leads to. */
export type Target =
  | { readonly access: Access; readonly handle: Handle; readonly door: ProviderName | null }
  /** Needs no key. */
  | { readonly open: OpenHandle }
  /** For strangers: other sources, and a limit of its own. */
  | { readonly stranger: StrangerHandle };

/** Answers a call, or throws a `Problem`. */
type Handle = (call: Call) => Promise<void>;
/** As {@link Handle}, where no key is asked for. */
type OpenHandle = (exchange: Exchange) => void | Promise<void>;

/** Idempotency keys tracked while in use; each belongs to one request or batch being accepted. */
const MAX_KEYS_IN_PROGRESS = 10_000;

/** Every path of the API. */
export function routes(deps: IngestDeps, options: IngestOptions): Route<Target>[] {
  const parts = partsOf(deps, options);
  const handlers = handlersOf(parts);
  const open: Readonly<Record<keyof typeof OPEN_ENDPOINTS, OpenHandle>> = {
    getReady: (exchange) => answerReady(exchange, deps.ready()),
    getDescription: descriptionEndpoint(),
  };
  const strangers: Readonly<Record<keyof typeof STRANGER_ENDPOINTS, StrangerHandle>> = {
    takeHook: (visit) => answerHook(visit, { ...deps, ...deps.shared }),
    showUnsubscribe: (visit) => showUnsubscribe(visit, { ...deps, ...deps.shared }),
    takeUnsubscribe: (visit) => takeUnsubscribe(visit, { ...deps, ...deps.shared }),
  };
  return [
    ...ENDPOINT_IDS.map((id) => {
      const { method, path, access } = ENDPOINTS[id];
      return { method, path, target: { access, handle: handlers[id], door: null } };
    }),
    ...OPEN_IDS.map((id) => ({ ...OPEN_ENDPOINTS[id], target: { open: open[id] } })),
    ...providerRoutes(options.dropIn).map(({ method, path, target: { access, handle, door } }) => ({
      method,
      path,
      target: { access, handle: (call: Call) => handle(call, parts), door },
    })),
    ...mailpitRoutes(parts),
    ...STRANGER_IDS.map((id) => ({ ...STRANGER_ENDPOINTS[id], target: { stranger: strangers[id] } })),
  ];
}

function partsOf(deps: IngestDeps, options: IngestOptions) {
  const { clock, random, events, signal, shared } = deps;
  const capturedWords = new CapturedWords(deps.readWords);
  return {
    ...deps,
    ...shared,
    capturedWords,
    captured: new CapturedMail({ ...deps, words: capturedWords }),
    options,
    limits: () => options.limits,
    templates: new RenderableTemplates(deps.templates),
    watchers: new Watchers(events, { max: options.maxWaitingReaders, signal }),
    tail: new EventTail(deps, { max: options.maxEventReaders }),
    nextToken: createTokenSource(clock, random),
    inProgress: new InProgress({ max: MAX_KEYS_IN_PROGRESS }),
  };
}

function handlersOf(parts: ReturnType<typeof partsOf>): Readonly<Record<keyof typeof ENDPOINTS, Handle>> {
  return {
    sendMessage: (call) => answerSubmit(call, parts),
    sendBatch: (call) => answerBatch(call, parts),
    sendRaw: (call) => answerRaw(call, parts),
    checkMessage: (call) => answerPreflight(call, parts),
    resendMessage: (call) => answerResend(call, parts),
    listMessages: (call) => answerList(call, parts),
    getMessage: (call) => answerStatus(call, parts),
    listAttempts: (call) => answerAttempts(call, parts.views),
    getContent: (call) => answerContent(call, parts),
    listFeedback: (call) => answerFeedbackList(call, parts),
    getFeedback: (call) => answerEvidence(call, parts),
    listCaptured: (call) => answerCapturedList(call, parts),
    getCaptured: (call) => answerCaptured(call, parts),
    getCapturedRaw: (call) => answerCapturedRaw(call, parts),
    getCapturedFile: (call) => answerCapturedAttachment(call, parts),
    removeCaptured: (call) => answerCapturedRemoval(call, parts),
    removeAllCaptured: (call) => answerCapturedRemovals(call, parts),
    releaseCaptured: (call) => answerRelease(call, parts),
    waitForCaptured: (call) => answerWait(call, parts),
    listEvents: (call) => answerEvents(call, parts),
    tellFeedback: (call) => answerFeedback(call, parts),
    listSuppressions: (call) => answerSuppressions(call, parts),
    exportSuppressions: (call) => answerSuppressionExport(call, parts),
    getSuppression: (call) => answerSuppression(call, parts),
    addSuppression: (call) => answerSuppressing(call, parts),
    importSuppressions: (call) => answerSuppressionImport(call, parts),
    checkSuppressions: (call) => answerSuppressionCheck(call, parts),
    removeSuppressions: (call) => answerSuppressionRemoval(call, parts),
    listRequests: (call) => answerRequests(call, parts),
    listTemplates: (call) => answerTemplates(call, parts),
    getTemplate: (call) => answerTemplate(call, parts),
    saveTemplate: (call) => answerTemplateSaving(call, parts),
    publishTemplate: (call) => answerTemplatePublication(call, parts),
    renderTemplate: (call) => answerTemplateRendering(call, parts),
    removeTemplate: (call) => answerTemplateRemoval(call, parts),
    listWebhooks: (call) => answerWebhooks(call, parts),
    addWebhook: (call) => answerNewWebhook(call, parts),
    getWebhook: (call) => answerWebhook(call, parts),
    changeWebhook: (call) => answerWebhookChange(call, parts),
    removeWebhook: (call) => answerWebhookRemoval(call, parts),
    rotateWebhook: (call) => answerWebhookRotation(call, parts),
    testWebhook: (call) => answerWebhookTest(call, parts),
    listDeliveries: (call) => answerWebhookDeliveries(call, parts),
    retryDelivery: (call) => answerWebhookRetry(call, parts),
    replayWebhook: (call) => answerWebhookReplay(call, parts),
    rescheduleMessage: (call) => answerReschedule(call, parts),
    cancelMessage: (call) => answerAct(call, 'cancelMessage', parts),
    retryMessage: (call) => answerAct(call, 'retryMessage', parts),
    getQueue: (call) => answerQueue(call, parts),
    pauseQueue: (call) => answerHold(call, 'pause', parts),
    drainQueue: (call) => answerHold(call, 'drain', parts),
    resumeQueue: (call) => answerHold(call, null, parts),
    retrySelection: (call) => answerQueueAct(call, 'retry', parts),
    cancelSelection: (call) => answerQueueAct(call, 'cancel', parts),
    rerouteSelection: (call) => answerQueueAct(call, 'reroute', parts),
    explainRoute: (call) => answerExplain(call, parts),
    callOperation: (call) => answerAdmin(call, parts),
  };
}

/** For a load balancer in front of us: whether a message would be accepted now. Needs no key, shows no details. */
function answerReady(exchange: Exchange, isReady: boolean): void {
  exchange.text(isReady ? 200 : 503, isReady ? 'ready\n' : 'not ready\n');
}

// `GET /api/v1/messages/{id}/content`: the message's bytes as they are sent (contract §3.1).

/** What the endpoint needs. */
interface ContentDeps {
  readonly views: Findable;
  readonly spool: Pick<Spool, 'read'>;
}

async function answerContent({ exchange, caller, params }: Call, deps: ContentDeps): Promise<void> {
  readParameters(exchange.query, CONTENT_PARAMETERS);
  const detail = await findReadable(params['id'] ?? '', caller.key, deps.views);
  const { message } = detail;
  const content = await openContent(message, deps.spool, 404, recipientIn(exchange, detail));
  await exchange.stream(200, 'message/rfc822', content, {
    'Content-Disposition': `attachment; filename="${message.id}.eml"`,
  });
}
