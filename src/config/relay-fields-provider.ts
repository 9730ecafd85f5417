import { choice, flag, hostname, mailAddress, orNull, text } from './kinds.ts';
import { field } from './relay-field.ts';
import {
  APPLICATION_ID,
  clientId,
  isApplicationId,
  matching,
  refreshToken,
  scope,
  secretText,
  serviceAccount,
  verificationKey,
  webAddress,
} from './relay-kinds.ts';
import {
  MAILGUN_ENDPOINTS,
  MICROSOFT_AUTHORITY,
  PRESET_SCOPES,
  PROVIDER_TYPES,
  PUBLIC_ENDPOINTS,
  sesEndpoint,
} from './relay-types.ts';

const SES_REGION = /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/;
/** Types with the provider's own endpoint as the default. */
const ENDPOINT_TYPES = PROVIDER_TYPES.filter((type) => type !== 'webhook');

/** The fields of relays that use a provider's API over HTTPS, or a smarthost with a provider's OAuth. */
export const PROVIDER_FIELDS = {
  region: field(
    orNull(matching('a region such as eu-west-1, or with type mailgun us or eu', /^[a-z0-9-]{1,32}$/)),
    null,
    {
      label: 'Region',
      group: 'main',
      types: ['ses', 'mailgun'],
      requiredFor: ['ses'],
      binds: true,
      option: {
        value: '<region>',
        whose: 'ses',
        help: 'region of AWS, such as eu-west-1, required; mailgun: us (default) or eu',
      },
      meaning:
        '`ses`: the region of AWS, such as eu-west-1; required. `mailgun`: where the domain is kept, `us` (which null means) or `eu`.',
      byType: {
        ses: {
          kind: matching('a region of AWS such as eu-west-1', SES_REGION),
          meaning: 'The region of AWS where the sender is verified, such as `eu-west-1`.',
        },
        mailgun: {
          kind: choice(...Object.keys(MAILGUN_ENDPOINTS)),
          meaning: 'Where the domain is kept: `us` (the default) or `eu`.',
        },
      },
    },
  ),
  access_key_id: field(orNull(matching('16 to 128 letters, digits and _', /^\w{16,128}$/)), null, {
    label: 'Access key id',
    group: 'main',
    types: ['ses'],
    requiredFor: ['ses'],
    option: { value: '<id>', help: 'id of the access key' },
    meaning:
      'The id of the access key whose secret is `secret`; its user needs `ses:SendEmail` and `ses:SendRawEmail`, and for tests `ses:GetAccount`.',
  }),
  configuration_set: field(
    orNull(matching('1 to 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/)),
    null,
    {
      label: 'Configuration set',
      group: 'main',
      types: ['ses'],
      option: { value: '<name>', help: 'configuration set to send with' },
      meaning: 'The configuration set that mail is sent with.',
    },
  ),
  domain: field(orNull(hostname), null, {
    label: 'Sending domain',
    group: 'main',
    types: ['mailgun'],
    requiredFor: ['mailgun'],
    option: { value: '<domain>', help: 'the sending domain' },
    meaning: 'The sending domain, as it is registered there.',
  }),
  message_stream: field(orNull(matching('1 to 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/)), null, {
    label: 'Message stream',
    group: 'main',
    types: ['postmark'],
    option: { value: '<id>', help: 'message stream to send by (default: outbound)' },
    meaning: "The message stream for the mail. null means the server's default, `outbound`.",
  }),
  tenant: field(
    orNull(matching("a directory's id or domain", /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/)),
    null,
    {
      label: 'Tenant',
      group: 'main',
      types: ['smtp', 'graph'],
      requiredFor: ['graph'],
      oauth: true,
      binds: true,
      option: {
        value: '<tenant>',
        whose: 'graph, smtp with --preset microsoft',
        help: 'id or domain of the tenant; required',
      },
      meaning:
        'The id or a domain of the Microsoft Entra tenant. Required with type `graph`, and with `preset: microsoft`.',
      byType: {
        smtp: { group: 'oauth', meaning: 'Microsoft: the id or a domain of the Microsoft Entra tenant.' },
      },
    },
  ),
  client_id: field(orNull(clientId), null, {
    label: 'Client id',
    group: 'main',
    types: ['smtp', 'graph'],
    requiredFor: ['graph'],
    oauth: true,
    option: {
      value: '<id>',
      whose: 'graph, smtp with --auth xoauth2',
      help: 'id of the application or OAuth client',
    },
    meaning:
      'The id of the application, or of the OAuth client. With type `graph`, where it is required, it needs the permission `Mail.Send`; with `preset: microsoft` the permission `SMTP.SendAsApp`.',
    byType: {
      smtp: {
        group: 'oauth',
        meaning: 'The id of the application (Microsoft), or of the OAuth client (Google).',
      },
      graph: { kind: text(APPLICATION_ID, isApplicationId) },
    },
  }),
  secret: field(orNull(secretText), null, {
    label: 'Secret',
    group: 'main',
    types: ['smtp', ...PROVIDER_TYPES],
    requiredFor: PROVIDER_TYPES,
    secret: true,
    oauth: true,
    option: {
      value: '<file>',
      whose: 'providers, smtp with --auth xoauth2',
      help: 'file with the key, token or secret',
    },
    meaning:
      'The credential: for `ses` the secret access key, for `mailgun`, `sendgrid` and `resend` an API key, for `postmark` the server token, for `graph` and for type `smtp` with `auth: xoauth2` a client secret, for `webhook` the signing key. Better given as `secret_file`, the path of a file that contains it. Required for all types except `smtp`.',
    byType: {
      smtp: {
        label: 'Client secret',
        group: 'oauth',
        meaning: "The value of one of the application's or client's secrets, not its id.",
      },
      ses: { label: 'Secret access key', meaning: 'The secret that belongs to the access key id.' },
      mailgun: { label: 'API key', meaning: 'A sending key of the domain, or a key of the account.' },
      postmark: { label: 'Server token', meaning: 'The API token of the server that sends.' },
      sendgrid: { label: 'API key', meaning: 'A key that may send mail.' },
      resend: { label: 'API key', meaning: 'A key with sending access.' },
      graph: {
        label: 'Client secret',
        meaning: "The value of one of the application's secrets, not its id.",
      },
      webhook: {
        label: 'Signing key',
        meaning: 'Each request is signed with it, so that the receiver knows it is yours.',
      },
    },
  }),
  refresh_token: field(orNull(refreshToken), null, {
    label: 'Refresh token',
    group: 'oauth',
    types: ['smtp'],
    secret: true,
    oauth: true,
    option: { value: '<file>', help: 'file with the refresh token' },
    meaning:
      "With `auth: xoauth2`, the refresh token that a user gave by consenting. It must stay the same, as Google's do. Better given as `refresh_token_file`, the path of a file that contains it.",
    byType: { smtp: { meaning: 'Google: the token that the user gave by consenting.' } },
  }),
  service_account: field(orNull(serviceAccount), null, {
    label: 'Service account (JSON)',
    group: 'oauth',
    types: ['smtp'],
    secret: true,
    oauth: true,
    option: { value: '<file>', help: 'JSON file of a key of a Google service account' },
    meaning:
      'With `auth: xoauth2`, the JSON of a key of a Google service account with domain-wide delegation. Better given as `service_account_file`, the path of the file that Google gives.',
    byType: { smtp: { meaning: 'Google: the JSON file of a key of the service account, pasted here.' } },
  }),
  subject: field(orNull(mailAddress), null, {
    label: 'User it stands for',
    group: 'oauth',
    types: ['smtp'],
    oauth: true,
    option: {
      value: '<address>',
      whose: 'smtp with --service-account-file',
      help: 'user it stands for (default: --username)',
    },
    meaning: 'With `service_account`, the user for whom it asks. null means `username`.',
  }),
  scope: field(orNull(scope), null, {
    label: 'Scope',
    group: 'oauth',
    types: ['smtp'],
    oauth: true,
    option: { value: '<scope>', help: "what tokens are for (default: the preset's)" },
    meaning: `With \`auth: xoauth2\`, what the tokens are for. null means ${PRESET_SCOPES.microsoft} with \`preset: microsoft\`, ${PRESET_SCOPES.google} with \`preset: google\`, and otherwise none.`,
  }),
  token_url: field(orNull(webAddress), null, {
    label: 'Token URL',
    group: 'oauth',
    types: ['smtp'],
    oauth: true,
    url: true,
    binds: true,
    option: { value: '<url>', help: "where tokens are asked for (default: the preset's)" },
    meaning: 'With `auth: xoauth2`, where tokens are asked for. null means what `preset` says.',
  }),
  mailbox: field(orNull(mailAddress), null, {
    label: 'Mailbox',
    group: 'main',
    types: ['graph'],
    option: { value: '<address>', help: "mailbox that sends (default: that of the message's From)" },
    meaning: "The mailbox that sends. null means that of the message's From.",
  }),
  authority: field(orNull(webAddress), null, {
    label: 'Authority',
    group: 'connection',
    types: ['graph'],
    url: true,
    binds: true,
    option: { value: '<url>', help: "where tokens are asked for (default: Microsoft's)" },
    meaning: `Where tokens are asked for. null means ${MICROSOFT_AUTHORITY}.`,
  }),
  url: field(orNull(webAddress), null, {
    label: 'URL',
    group: 'main',
    types: ['webhook'],
    requiredFor: ['webhook'],
    url: true,
    binds: true,
    option: { value: '<url>', help: 'where messages are posted to' },
    meaning: 'Where messages are posted to.',
  }),
  endpoint: field(orNull(webAddress), null, {
    label: 'Endpoint',
    group: 'connection',
    types: ENDPOINT_TYPES,
    url: true,
    binds: true,
    option: {
      value: '<url>',
      whose: 'providers but webhook',
      help: "where the API is (default: the provider's own)",
    },
    meaning: `Where the API is. null means the provider's own: \`ses\` ${sesEndpoint('REGION')}, \`mailgun\` ${MAILGUN_ENDPOINTS.us} or ${MAILGUN_ENDPOINTS.eu}, \`postmark\` ${PUBLIC_ENDPOINTS.postmark}, \`sendgrid\` ${PUBLIC_ENDPOINTS.sendgrid}, \`resend\` ${PUBLIC_ENDPOINTS.resend}, \`graph\` ${PUBLIC_ENDPOINTS.graph}.`,
  }),
  webhook_topic_arn: field(
    orNull(
      matching('the ARN of an SNS topic, arn:aws:sns:…', /^arn:aws[a-z-]{0,20}:sns:[A-Za-z0-9:._-]{1,256}$/),
    ),
    null,
    {
      label: 'SNS topic',
      group: 'hook',
      types: ['ses'],
      option: { value: '<arn>', help: 'ARN of the only SNS topic whose events count (default: any)' },
      meaning: 'The ARN of the SNS topic that tells what became of mail. null means any topic.',
    },
  ),
  webhook_public_key: field(orNull(verificationKey), null, {
    label: 'Verification key',
    group: 'hook',
    types: ['sendgrid'],
    option: { value: '<key>', help: 'verification key of the signed event webhook' },
    meaning:
      'The verification key of the signed event webhook, which tells what became of mail. null means that its events are refused.',
  }),
  webhook_username: field(
    orNull(matching('1 to 100 visible ASCII characters without a colon', /^[!-9;-~]{1,100}$/)),
    null,
    {
      label: 'Webhook user name',
      group: 'hook',
      types: ['postmark'],
      option: { value: '<name>', help: 'user name that its webhooks give' },
      meaning:
        'The user name of the basic authentication that its webhooks give; chosen by you. null means that its events are refused.',
    },
  ),
  webhook_secret: field(orNull(secretText), null, {
    label: 'Webhook secret',
    group: 'hook',
    types: ['mailgun', 'postmark', 'resend'],
    secret: true,
    option: { value: '<file>', help: 'file with the secret of its webhooks' },
    meaning:
      'What proves its webhooks, which tell what became of mail: for `mailgun` the HTTP webhook signing key, for `postmark` a password of your choice, for `resend` the signing secret, `whsec_…`. Better given as `webhook_secret_file`, the path of a file that contains it. null means that its events are refused.',
    byType: {
      mailgun: {
        label: 'Webhook signing key',
        meaning: 'The HTTP webhook signing key of the account, which is not the API key.',
      },
      postmark: {
        label: 'Webhook password',
        meaning: 'The password of the basic authentication that its webhooks give; chosen by you.',
      },
      resend: {
        kind: matching('whsec_ and base64, as Resend shows it', /^whsec_[A-Za-z0-9+/]{1,1000}={0,2}$/),
        meaning: 'The signing secret of the webhook, `whsec_…`.',
      },
    },
  }),
  allow_private: field(orNull(flag), null, {
    label: 'Private addresses',
    group: 'main',
    types: ['smtp', 'mx', ...PROVIDER_TYPES],
    oauth: true,
    fileOnly: true,
    meaning:
      'Connect to hosts with private, loopback and other non-public addresses, and use plain HTTP if a URL says so. null means false. Only in the configuration file; for stored relays there is `delivery.private_relays`. With type `smtp` this concerns `token_url`: a smarthost may have a private address anyway.',
  }),
};
