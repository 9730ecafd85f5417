/** The settings of the suppression list: a file of its own, as the table has as many rows as a file may. */
import { choice, integer } from './kinds.ts';
import { live } from './setting.ts';

const scopeKind = choice('global', 'domain', 'key');
const SCOPE_RULE =
  '`domain`: only mail from the same domain; `key`: only mail of the same key; `global`: all mail. Applies to entries made from then on.';
const expireDays = integer(0, 36_500, 'days');

/** See contract-2 §A5; `limits.max_suppressions` is among the limits. */
export const SUPPRESSION_SETTINGS = {
  'suppressions.scope.hard_bounce': live(
    scopeKind,
    'global',
    `Whose mail to an address stops when the address turns out not to exist. ${SCOPE_RULE}`,
  ),
  'suppressions.scope.complaint': live(
    scopeKind,
    'domain',
    `Whose mail to an address stops when its owner complains. ${SCOPE_RULE}`,
  ),
  'suppressions.scope.unsubscribe': live(
    scopeKind,
    'domain',
    `Whose mail to an address stops when its owner unsubscribes. ${SCOPE_RULE}`,
  ),
  'suppressions.expire_days.hard': live(
    expireDays,
    0,
    'How long the suppression list keeps an address that does not exist. 0 means for ever.',
  ),
  'suppressions.expire_days.soft': live(
    expireDays,
    30,
    'How long it keeps an address that bounced softly too often. 0 means for ever.',
  ),
  'suppressions.expire_days.provider': live(
    expireDays,
    90,
    'How long it keeps an address that a provider did not try because of its own list. 0 means for ever.',
  ),
  'suppressions.expire_days.complaint': live(
    expireDays,
    0,
    'How long it keeps the address of somebody who complained. 0 means for ever.',
  ),
  'suppressions.expire_days.unsubscribe': live(
    expireDays,
    0,
    'How long it keeps the address of somebody who unsubscribed. 0 means for ever.',
  ),
  'suppressions.soft_bounces': live(
    integer(1, 100),
    5,
    'How many soft bounces within 30 days, without a delivery between them, suppress an address.',
  ),
};
