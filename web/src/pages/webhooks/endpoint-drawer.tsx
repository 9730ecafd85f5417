import { Plus, X } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { ListField, Select } from '../../parts/choice.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Form, type FormInHand } from '../../parts/form.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { toast } from '../../parts/toast.tsx';
import { Chip } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall, useDoing } from '../../queries.ts';
import { EventFields } from './event-fields.tsx';
import { useWebhookTest } from './tries.tsx';
import {
  changeOf,
  checkWebhook,
  formOf,
  type Header,
  MAX_HEADERS,
  NEW_WEBHOOK,
  requestOf,
  type WebhookForm,
} from './webhook-form.ts';
import type { Endpoint } from './words.ts';

/** An endpoint with a secret that is shown this once. */
export type NewSecret = ResultOf<'addWebhook'>;

/** Adds an endpoint, or changes one. */
export function EndpointDrawer({
  of,
  onAdded,
  onClose,
}: {
  /** Null for a new one. */
  readonly of: Endpoint | null;
  readonly onAdded: (added: NewSecret) => void;
  readonly onClose: () => void;
}) {
  const save = useDoing(
    async (form: WebhookForm) => {
      if (of === null) return await call('addWebhook', requestOf(form));
      await call('changeWebhook', { which: of.id, ...changeOf(of, form) });
      return null;
    },
    {
      quiet: true,
      onDone: (added) => {
        if (added) return onAdded(added);
        toast.success('The endpoint was changed');
        onClose();
      },
    },
  );
  return (
    <Form
      act={save}
      initial={of === null ? NEW_WEBHOOK : formOf(of)}
      check={checkWebhook}
      request={(form) => form}
      submit={of === null ? 'Add endpoint' : 'Save'}
      onClose={onClose}
      className="space-y-5"
      noValidate
      sheet={{
        kind: 'drawer',
        title: of === null ? 'Add an endpoint' : 'Change endpoint',
        description:
          of === null ? 'A URL of yours, to which events are posted as they happen.' : <Said text={of.url} />,
      }}
    >
      {(form) => <EndpointFields form={form} ofKey={of?.key ?? null} />}
    </Form>
  );
}

interface Props {
  readonly form: FormInHand<WebhookForm>;
}

function EndpointFields({ form, ofKey }: Props & { readonly ofKey: string | null }) {
  const { field, values, faults, put } = form;
  return (
    <>
      <TextField
        label="URL"
        hint="https, and an address that is public. The file can allow others: webhooks.private_urls."
        placeholder="https://shop.example.com/waybill"
        verbatim
        inputMode="url"
        {...field('url')}
      />
      <TextField
        label="Description"
        placeholder="Such as: the shop’s order service"
        maxLength={500}
        {...field('description')}
      />
      <EventFields
        legend="It is told of"
        value={values.types}
        error={faults['types']}
        onChange={(types) => put({ types })}
      />
      {ofKey === null ? (
        <KeysField form={form} />
      ) : (
        <p className="text-soft">It belongs to the key {ofKey}, and is told of its messages alone.</p>
      )}
      <ListField
        label="Only messages with one of these tags"
        hint="Empty for all. Enter or a comma ends a tag."
        placeholder="welcome"
        phrases
        {...field('tags')}
      />
      <Checkbox
        label="Include the subject"
        hint="Without this, events say who and when, but not what a message is about."
        checked={values.subject}
        onChange={(subject) => put({ subject })}
      >
        <span className="font-medium">Include the subject</span>
      </Checkbox>
      <HeaderFields form={form} />
    </>
  );
}

function KeysField({ form: { values, put, faults } }: Props) {
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const names = (keys.data ?? []).filter(({ revokedAt }) => revokedAt === null).map(({ name }) => name);
  const others = names.filter((name) => !values.keys.includes(name));
  return (
    <div>
      <Select
        label="Only messages of these API keys"
        hint="None chosen: messages of every key, and those without one."
        value=""
        disabled={others.length === 0}
        choices={[
          {
            value: '',
            label:
              names.length === 0 ? 'There is no key' : values.keys.length === 0 ? 'Every key' : 'Add a key',
          },
          ...others,
        ]}
        onChange={(name) => name !== '' && put({ keys: [...values.keys, name] })}
        error={faults['keys']}
      />
      {values.keys.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-1.5">
          {values.keys.map((name) => (
            <Chip
              key={name}
              label={name}
              onRemove={() => put({ keys: values.keys.filter((one) => one !== name) })}
            >
              <span className="min-w-0 truncate">{name}</span>
            </Chip>
          ))}
        </div>
      )}
    </div>
  );
}

function HeaderFields({ form: { values, put, faults } }: Props) {
  const { headers } = values;
  const change = (at: number, part: Partial<Header>) =>
    put({ headers: headers.map((one, place) => (place === at ? { ...one, ...part } : one)) });
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Headers</legend>
      <div className="space-y-2">
        {headers.map(({ name, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is what stands at its place
          <div key={at} className="flex items-end gap-2">
            <TextField
              label={<span className="sr-only">Name of header {at + 1}</span>}
              className="min-w-0 flex-1"
              placeholder="Authorization"
              verbatim
              mono
              value={name}
              aria-invalid={faults['headers'] !== undefined}
              onChange={(next) => change(at, { name: next })}
            />
            <TextField
              label={<span className="sr-only">Value of header {at + 1}</span>}
              className="min-w-0 flex-[1.5]"
              placeholder="Bearer …"
              verbatim
              mono
              value={value}
              onChange={(next) => change(at, { value: next })}
            />
            <IconButton
              icon={X}
              label={`Remove header ${at + 1}`}
              onClick={() => put({ headers: headers.filter((_, place) => place !== at) })}
            />
          </div>
        ))}
        <Button
          small
          icon={Plus}
          label="Add a header"
          disabled={headers.length >= MAX_HEADERS}
          onClick={() => put({ headers: [...headers, { name: '', value: '' }] })}
        />
      </div>
      {faults['headers'] !== undefined && <p className="mt-1 text-sm text-failed">{faults['headers']}</p>}
      <p className="mt-1 text-sm text-soft">Sent with every request, such as Authorization. Up to five.</p>
    </fieldset>
  );
}

const VERIFY = `import { Webhook } from 'standardwebhooks';

// The body as it came, before it is parsed.
// Throws if it is forged, or old.
const webhook = new Webhook(secret);
const event = webhook.verify(body, headers);`;

/** The secret of an endpoint, this once, and what to do with it. */
export function SecretOfEndpoint({
  of: { webhook, secret },
  rotated,
  onClose,
}: {
  readonly of: NewSecret;
  /** It had another one before. */
  readonly rotated: boolean;
  readonly onClose: () => void;
}) {
  const { start, isRunning, outcome } = useWebhookTest(webhook);
  return (
    <SecretDialog
      kind="drawer"
      title={rotated ? 'The new secret' : 'Endpoint added'}
      description={<Said text={webhook.url} />}
      secret={secret}
      label="signing secret"
      onClose={onClose}
    >
      <div className="space-y-4">
        <p>
          Give it to the program behind the URL. With it the program verifies that a request comes from here:
          every request is signed, as Standard Webhooks says.
        </p>
        {rotated && (
          <p className="text-soft">
            The old secret signs, too, for 24 more hours: requests have two signatures meanwhile, so that none
            is refused while you replace it.
          </p>
        )}
        <CodeBlock label="In Node.js" code={VERIFY} />
        <Button label="Post a test event to it" busy={isRunning} onClick={start} />
        {outcome}
      </div>
    </SecretDialog>
  );
}
