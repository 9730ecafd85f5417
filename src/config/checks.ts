import { INBOX } from '../domain/relay.ts';
import { type Fault, showValue, unknownRule } from './fault.ts';
import type { Config, SettingKey } from './schema.ts';
import type { Effective } from './sources.ts';

/** A body and the message made of it are both in memory while a request is handled. */
const COPIES_IN_FLIGHT = 2;

/** What is wrong between settings that are each right by themselves. */
export function checkTogether(config: Config, effective: readonly Effective[]): Fault[] {
  const { api, delivery, limits, health, tls } = config;
  const faults: Fault[] = [];
  const refuse = (key: SettingKey, rule: string) => {
    const found = effective.find((setting) => setting.key === key);
    faults.push({ key, value: showValue(found?.value), rule, source: found?.source ?? 'default' });
  };
  if (delivery.retryFirstSeconds > delivery.retryMaxSeconds)
    refuse('delivery.retry_first_seconds', 'must not be over delivery.retry_max_seconds');
  if (limits.maxBytesInFlight < COPIES_IN_FLIGHT * api.maxMessageBytes)
    refuse('limits.max_bytes_in_flight', `must be at least ${COPIES_IN_FLIGHT} times api.max_message_bytes`);
  if (limits.maxQueuedBytes !== null && limits.maxQueuedBytes < api.maxMessageBytes)
    refuse('limits.max_queued_bytes', 'must not be under api.max_message_bytes');
  if (health.diskCriticalBytes > health.diskLowBytes)
    refuse('health.disk_critical_bytes', 'must not be over health.disk_low_bytes');
  if ((tls.certFile === null) !== (tls.keyFile === null))
    refuse(
      tls.certFile === null ? 'tls.cert_file' : 'tls.key_file',
      'tls.cert_file and tls.key_file go together',
    );
  return [...faults, ...checkRelays(config, effective)];
}

function checkRelays(config: Config, effective: readonly Effective[]): Fault[] {
  const key: SettingKey = 'delivery.default_relay';
  const names = config.relays.map((relay) => relay.name);
  const faults = names
    .filter((name, index) => names.indexOf(name) < index)
    .map(
      (name): Fault => ({ key: `relays.${name}`, value: null, rule: 'is declared twice', source: 'relays' }),
    );
  const chosen = effective.find((setting) => setting.key === key);
  const source = chosen?.source ?? 'default';
  if (!names.includes(config.delivery.defaultRelay)) {
    const rule = unknownRule('relay', config.delivery.defaultRelay, names);
    faults.push({ key, value: showValue(config.delivery.defaultRelay), rule, source });
  } else if (chosen?.origin === 'default' && names.length > 1) {
    const others = names.filter((name) => name !== INBOX).join(', ');
    const rule = `must be set, because a relay exists besides ${INBOX}: ${others}`;
    faults.push({ key, value: null, rule, source });
  }
  return faults;
}
