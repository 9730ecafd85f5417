import { SCOPES, type Scope } from '../../../../domain/key.ts';
import type { FieldFault } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { refuseRate } from '../../batch.ts';
import type { Access, Call } from '../../call.ts';
import { refuseSuspended } from '../../hand-over.ts';
import { readIdempotencyKey } from '../../idempotency.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import type { Provider, ProviderDeps } from '../provider.ts';
import { readBody, tellIgnored } from '../submitting.ts';
import { judgeTogether, takeTogether } from '../together.ts';
import { CONTENT_TYPES, type Mail, mailSchema, messageOf, sharedLength, typeOf } from './fields.ts';
import { refuseAsSendgrid } from './refusals.ts';
import { SUPPRESSION_ENDPOINTS } from './suppressions.ts';

/** SendGrid's API (contract-2 §C4): each personalization is a message of its own. */

const SEND: Access = { scheme: 'bearer', scopes: ['messages:send'], window: 'send' };
const ANY: Access = { scheme: 'bearer', scopes: SCOPES, window: 'read' };

/** See contract-2 §C4. */
// biome-ignore format: a table
export const SENDGRID: Provider = {
  name: 'sendgrid',
  refuse: refuseAsSendgrid,
  endpoints: [
    { method: 'POST', path: '/v3/mail/send', access: SEND, handle: send },
    { method: 'GET',  path: '/v3/scopes',    access: ANY,  handle: showScopes },
    ...SUPPRESSION_ENDPOINTS,
  ],
};

/** All messages are accepted or none; all share one commit. */
async function send(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const { id } = caller.key;
  refuseSuspended(deps.intake, id);
  await heldWhile(deps.budget.share(id), async (budget) => {
    const mail = await readBody(exchange, mailSchema, deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    const { key, faults } = readIdempotencyKey(exchange);
    if (mail.personalizations.length > 1) refuseRate(id, mail.personalizations.length, deps);
    const ignored = ignorable(mail);
    tellIgnored(exchange, ignored, Object.keys(ignored));
    const found = [...faults, ...notOffered(mail)];
    const { maxMessageBytes: maxBytes } = deps.options.limits;
    const isDryRun = mail.mail_settings?.sandbox_mode?.enable === true;
    const submissions = await judgeTogether(
      call,
      mail.personalizations,
      {
        key: isDryRun ? null : key,
        found,
        shared: sharedLength(mail),
        make: (_, place) => messageOf(mail, place, { idempotencyKey: key, maxBytes }),
      },
      deps,
      budget,
    );
    if (isDryRun) return exchange.empty(200);
    const { id: first, replayed } = await takeTogether(call, submissions, key, deps);
    exchange.empty(202, { 'X-Message-Id': first, ...(replayed && { 'Idempotency-Replayed': 'true' }) });
  });
}

interface Feature {
  readonly enable?: boolean | null | undefined;
}

const isOn = (feature: Feature | null | undefined) => feature?.enable === true;

/** What is taken and means nothing here; null where it is not asked for. */
function ignorable({
  asm,
  batch_id,
  ip_pool_name,
  personalizations,
  subject,
  template_id,
  mail_settings,
  tracking_settings,
}: Mail) {
  const { spam_check } = mail_settings ?? {};
  const { click_tracking, open_tracking, ganalytics } = tracking_settings ?? {};
  const asked = (feature: Feature | null | undefined) => (isOn(feature) ? feature : null);
  return {
    asm,
    batch_id,
    ip_pool_name,
    'mail_settings.spam_check': asked(spam_check),
    'tracking_settings.click_tracking': asked(click_tracking),
    'tracking_settings.open_tracking': asked(open_tracking),
    'tracking_settings.ganalytics': asked(ganalytics),
    // The template says it.
    subject: template_id ? subject || null : null,
    'personalizations.dynamic_template_data': template_id
      ? null
      : personalizations.find(({ dynamic_template_data }) => dynamic_template_data != null),
  };
}

/** What SendGrid has and we do not, where it would change who gets the mail or what it says. */
function notOffered(mail: Mail): FieldFault[] {
  const { mail_settings: settings, tracking_settings: tracking, content } = mail;
  const own = 'Is not added to mail: write it into the content.';
  const bypass = 'Only bypass_list_management is known: it passes all of the list but complaints.';
  const rows: readonly (readonly [isAsked: boolean, pointer: string, detail: string])[] = [
    [Object.keys(mail.sections ?? {}).length > 0, '/sections', 'Write their texts into the substitutions.'],
    [mail.reply_to != null && mail.reply_to_list != null, '/reply_to_list', 'Give this, or reply_to.'],
    [isOn(settings?.bcc), '/mail_settings/bcc', 'Write the address into bcc of the personalizations.'],
    [isOn(settings?.footer), '/mail_settings/footer', own],
    [isOn(settings?.bypass_bounce_management), '/mail_settings/bypass_bounce_management', bypass],
    [isOn(settings?.bypass_spam_management), '/mail_settings/bypass_spam_management', bypass],
    [isOn(settings?.bypass_unsubscribe_management), '/mail_settings/bypass_unsubscribe_management', bypass],
    [isOn(tracking?.subscription_tracking), '/tracking_settings/subscription_tracking', own],
  ];
  const parts = (content ?? []).map((part, place) => {
    const type = typeOf(part);
    const isKnown = CONTENT_TYPES.includes(type);
    const isRepeated = content?.findIndex((other) => typeOf(other) === type) !== place;
    const detail = isKnown
      ? 'Only one part may be of this type.'
      : `Must be one of ${CONTENT_TYPES.join(', ')}; attach anything else.`;
    return [!isKnown || isRepeated, `/content/${place}/type`, detail] as const;
  });
  return [...rows, ...parts].flatMap(([isAsked, pointer, detail]) =>
    isAsked ? [{ pointer, code: 'not_supported', detail }] : [],
  );
}

/** SendGrid's names of what a key may do. */
const SCOPE_NAMES: Partial<Record<Scope, readonly string[]>> = {
  'messages:send': ['mail.send'],
  'suppressions:read': ['suppression.read'],
  'suppressions:write': ['suppression.create', 'suppression.delete'],
};

async function showScopes({ exchange, caller }: Call): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  exchange.json(200, { scopes: caller.key.scopes.flatMap((scope) => SCOPE_NAMES[scope] ?? []) });
}
