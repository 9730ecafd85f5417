import { isWebhookType, type WebhookEndpoint } from '../domain/webhook.ts';
import { flag, listOf, path, text, webUrl } from './kinds.ts';
import { type RowValues, rowField, rowsOf } from './rows.ts';
import { live, outside } from './setting.ts';

/** `webhooks`: endpoints that stand in the configuration file, and what endpoints may be. */

/** An endpoint of the file; its keys are names. */
export interface FileWebhook
  extends Pick<
    WebhookEndpoint,
    'url' | 'types' | 'keys' | 'tags' | 'description' | 'includesSubject' | 'enabled'
  > {
  readonly name: string;
  readonly secretFile: string;
  readonly allowPrivate: boolean;
}

/** The members of an endpoint, in the order in which they are documented. */
export const WEBHOOK_FIELDS = {
  name: rowField(
    text('1 to 64 of a-z 0-9 - _', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw)),
    undefined,
    'Its name, from which its id follows: with another name it is another endpoint.',
  ),
  url: rowField(webUrl, undefined, 'Where events are posted to.'),
  secret_file: rowField(
    path,
    undefined,
    'The path of a file with its secret: `whsec_` and the base64 of 24 to 64 bytes, such as `openssl rand -base64 32` makes.',
  ),
  types: rowField(
    listOf(text('a type of event, or such as message.* for all that begin so', isWebhookType), 1),
    ['message.*'],
    'Types of events that it is told of.',
  ),
  keys: rowField(
    listOf(text('the name of a key', (raw) => raw !== '')),
    [],
    'Names of keys, of whose mail alone it is told. Empty means all.',
  ),
  tags: rowField(
    listOf(text('a tag', (raw) => raw !== '')),
    [],
    'It is told only of messages with one of these tags. Empty means all.',
  ),
  description: rowField(
    text('at most 500 characters', (raw) => raw.length <= 500),
    '',
    'A note for people.',
  ),
  include_subject: rowField(flag, false, 'It is told the subjects of messages, too.'),
  enabled: rowField(flag, true, 'Whether it is told of anything.'),
  allow_private: rowField(flag, false, 'It may lead to private and loopback addresses, and over plain HTTP.'),
};

/** In `webhooks.private_urls`: every URL. */
export const ANY_URL = '*';

const endpoints = rowsOf(WEBHOOK_FIELDS, {
  from: (values: RowValues<typeof WEBHOOK_FIELDS>): FileWebhook => ({
    name: values.name,
    url: values.url,
    secretFile: values.secret_file,
    types: values.types,
    keys: values.keys,
    tags: values.tags,
    description: values.description,
    includesSubject: values.include_subject,
    enabled: values.enabled,
    allowPrivate: values.allow_private,
  }),
  to: (endpoint) => ({
    name: endpoint.name,
    url: endpoint.url,
    secret_file: endpoint.secretFile,
    types: endpoint.types,
    keys: endpoint.keys,
    tags: endpoint.tags,
    description: endpoint.description,
    include_subject: endpoint.includesSubject,
    enabled: endpoint.enabled,
    allow_private: endpoint.allowPrivate,
  }),
});

/** The settings of webhooks. */
export const WEBHOOK_SETTINGS = {
  'webhooks.endpoints': outside(
    live(
      endpoints,
      [],
      'Endpoints of webhooks that are changed in the file alone; see [webhooks.endpoints](#webhooksendpoints).',
    ),
  ),
  'webhooks.private_urls': outside(
    live(
      listOf(
        text('a URL such as http://10.0.0.5:8080/waybill, or * for any', (raw) => {
          return raw === ANY_URL || webUrl.read(raw) !== undefined;
        }),
      ),
      [],
      'URLs of webhooks that may lead to private and loopback addresses, and over plain HTTP, each in full.',
    ),
  ),
};
