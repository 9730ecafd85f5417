import { ACCOUNT_OPERATIONS } from './accounts.ts';
import { ALERT_CHANNEL_OPERATIONS } from './alert-channels.ts';
import { ALERT_OPERATIONS } from './alerts.ts';
import { CERTIFICATE_OPERATIONS } from './certificates.ts';
import { CONFIGURING_OPERATIONS } from './configuring.ts';
import { DESTINATION_OPERATIONS } from './destination.ts';
import { DMARC_OPERATIONS } from './dmarc.ts';
import { DOMAIN_OPERATIONS } from './domains.ts';
import { INBOX_OPERATIONS } from './inbox.ts';
import { KEY_OPERATIONS } from './keys.ts';
import { LIVE_OPERATIONS } from './live.ts';
import { MESSAGE_OPERATIONS } from './messages.ts';
import type { OperationsOf, RequestIn, ResultIn, StepIn } from './operation.ts';
import { PREFLIGHT_OPERATIONS } from './preflight.ts';
import { PRIVACY_OPERATIONS } from './privacy.ts';
import { QUEUE_OPERATIONS } from './queue.ts';
import { RATE_OPERATIONS } from './rates.ts';
import { RELAY_HOOK_OPERATIONS } from './relay-hooks.ts';
import { RELAY_OPERATIONS } from './relays.ts';
import { REQUEST_OPERATIONS } from './requests.ts';
import { ROUTE_OPERATIONS } from './routes.ts';
import { SEARCH_OPERATIONS } from './search.ts';
import { SETTINGS_OPERATIONS } from './settings.ts';
import { SHARING_OPERATIONS } from './sharing.ts';
import { SUPPRESSION_OPERATIONS } from './suppressions.ts';
import { SYSTEM_OPERATIONS } from './system.ts';
import { TEMPLATE_OPERATIONS } from './templates.ts';
import { TEST_MESSAGE_OPERATIONS } from './test-messages.ts';
import { TLS_REPORT_OPERATIONS } from './tls-reports.ts';
import { TRAFFIC_OPERATIONS } from './traffic.ts';
import { WEBHOOK_OPERATIONS } from './webhooks.ts';

/** Every operation: all that the dashboard, the command line, and scripts can ask of an installation. */
export const OPERATIONS = {
  ...KEY_OPERATIONS,
  ...REQUEST_OPERATIONS,
  ...MESSAGE_OPERATIONS,
  ...PREFLIGHT_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...DESTINATION_OPERATIONS,
  ...RELAY_OPERATIONS,
  ...RELAY_HOOK_OPERATIONS,
  ...TEST_MESSAGE_OPERATIONS,
  ...ROUTE_OPERATIONS,
  ...DOMAIN_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SETTINGS_OPERATIONS,
  ...CERTIFICATE_OPERATIONS,
  ...SEARCH_OPERATIONS,
  ...SHARING_OPERATIONS,
  ...LIVE_OPERATIONS,
  ...RATE_OPERATIONS,
  ...TRAFFIC_OPERATIONS,
  ...DMARC_OPERATIONS,
  ...TLS_REPORT_OPERATIONS,
  ...INBOX_OPERATIONS,
  ...SUPPRESSION_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...ALERT_CHANNEL_OPERATIONS,
  ...CONFIGURING_OPERATIONS,
  ...PRIVACY_OPERATIONS,
  ...SYSTEM_OPERATIONS,
};

type Table = typeof OPERATIONS;
/** The name of an operation. */
export type OperationName = keyof Table;
/** What it is asked for. */
export type RequestOf<K extends OperationName> = RequestIn<Table, K>;
/** What it answers. */
export type ResultOf<K extends OperationName> = ResultIn<Table, K>;
/** What it tells of on the way; never, where it tells nothing. */
export type StepOf<K extends OperationName> = StepIn<Table, K>;

/** Those who carry out all of them: the same call works in this process and through the control socket. */
export type Operations = OperationsOf<Table>;

/** Every operation's name. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

/** The operation of a name; null where there is none. */
export function operationNamed(name: string): OperationName | null {
  return OPERATION_NAMES.find((known) => known === name) ?? null;
}
