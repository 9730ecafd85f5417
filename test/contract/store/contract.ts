import { describe } from 'vitest';
import { acceptContract } from './accept.ts';
import { accountSessionContract } from './account-sessions.ts';
import { accountContract } from './accounts.ts';
import { alertContract } from './alerts.ts';
import { bouncingContract } from './bouncing.ts';
import { cancelContract } from './cancel.ts';
import { capturedContract } from './captured.ts';
import { claimContract } from './claim.ts';
import { configuringContract } from './configuring.ts';
import { dmarcContract } from './dmarc-reports.ts';
import { earlyContract } from './early.ts';
import { erasingContract } from './erasing.ts';
import { erasuresContract } from './erasures.ts';
import { eventContract, eventOptionContract } from './events.ts';
import { expiryContract } from './expiry.ts';
import { feedbackContract } from './feedback.ts';
import type { OpenSubject } from './fixtures.ts';
import { foreseeContract } from './foresee.ts';
import { hostileTextContract } from './hostile-text.ts';
import { issuingContract } from './issuing.ts';
import { journalContract } from './journal.ts';
import { keyringContract } from './keyring.ts';
import { laneContract } from './lanes.ts';
import { listContract } from './list.ts';
import { modelContract } from './model.ts';
import { purgeContract } from './purge.ts';
import { quotaContract } from './quota.ts';
import { readingContract } from './reading.ts';
import { registryContract } from './registry.ts';
import { relocateContract } from './relocate.ts';
import { reportContract } from './reports.ts';
import { requestLogContract } from './request-log.ts';
import { requeueContract } from './requeue.ts';
import { rescheduleContract } from './reschedule.ts';
import { searchContract } from './search.ts';
import { settleContract } from './settle.ts';
import { sharingContract } from './sharing.ts';
import { stoppingContract } from './stopping.ts';
import { suppressionContract } from './suppressions.ts';
import { tellingContract } from './telling.ts';
import { templateContract } from './templates.ts';
import { tlsReportContract } from './tls-reports.ts';
import { togetherContract } from './together.ts';
import { trafficContract } from './traffic.ts';
import { unsubscribeLinkContract } from './unsubscribe-links.ts';
import { waitingContract } from './waiting.ts';
import { wayContract } from './ways.ts';
import { webhookContract } from './webhooks.ts';

/** Everything the store's seams promise, held against one implementation. */
export function storeContract(name: string, open: OpenSubject): void {
  describe(name, () => {
    mailPromises(open);
    readingContract(open);
    listContract(open);
    capturedContract(open);
    searchContract(open);
    eventOptionContract(open);
    registryContract(open);
    configuringContract(open);
    journalContract(open);
    suppressionContract(open);
    erasingContract(open);
    erasuresContract(open);
    webhookContract(open);
    templateContract(open);
    alertContract(open);
    issuingContract(open);
    sharingContract(open);
    requestLogContract(open);
    dmarcContract(open);
    tlsReportContract(open);
    trafficContract(open);
    accountContract(open);
    accountSessionContract(open);
    keyringContract(open);
    hostileTextContract(open);
  });
}

/** What the verbs of mail promise, held against one that keeps all else as another does, which is held to everything. */
export function mailContract(name: string, open: OpenSubject): void {
  describe(name, () => mailPromises(open));
}

function mailPromises(open: OpenSubject): void {
  acceptContract(open);
  togetherContract(open);
  foreseeContract(open);
  claimContract(open);
  settleContract(open);
  eventContract(open);
  feedbackContract(open);
  quotaContract(open);
  wayContract(open);
  reportContract(open);
  laneContract(open);
  expiryContract(open);
  purgeContract(open);
  relocateContract(open);
  cancelContract(open);
  requeueContract(open);
  rescheduleContract(open);
  tellingContract(open);
  earlyContract(open);
  bouncingContract(open);
  stoppingContract(open);
  unsubscribeLinkContract(open);
  waitingContract(open);
  modelContract(open);
}
