import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { ListField, Select } from '../../parts/choice.tsx';
import { Form, type FormInHand } from '../../parts/form.tsx';
import { SecretField, TextField } from '../../parts/text-field.tsx';
import { toast } from '../../parts/toast.tsx';
import { useCall, useDoing } from '../../queries.ts';
import { type Channel, KIND_NAMES, KINDS, type Kind, type Severity } from './words.ts';

/** A channel, and a secret that is shown this once. */
export type Added = ResultOf<'addAlertChannel'>;

interface ChannelForm {
  readonly name: string;
  readonly kind: Kind;
  readonly url: string;
  readonly secret: string;
  readonly to: readonly string[];
  readonly from: string;
  readonly relay: string;
  readonly severity: Severity;
}

const NEW: ChannelForm = {
  name: '',
  kind: 'mail',
  url: '',
  secret: '',
  to: [],
  from: '',
  relay: '',
  severity: 'warning',
};

const SEVERITIES = [
  { value: 'info', label: 'All alerts' },
  { value: 'warning', label: 'Warnings and what is critical' },
  { value: 'critical', label: 'Only what is critical' },
] as const;

/** Adds a channel, or changes one. */
export function ChannelDrawer({
  of,
  onAdded,
  onClose,
}: {
  /** Null for a new one. */
  readonly of: Channel | null;
  readonly onAdded: (added: Added) => void;
  readonly onClose: () => void;
}) {
  const save = useDoing(
    async (form: ChannelForm) => {
      const definition = definitionOf(form, of);
      if (of === null) return await call('addAlertChannel', { ...definition, kind: form.kind });
      await call('changeAlertChannel', { ...definition, which: of.id });
      return null;
    },
    {
      quiet: true,
      onDone: (added) => {
        if (added) return onAdded(added);
        toast.success('The channel was changed');
        onClose();
      },
    },
  );
  return (
    <Form
      act={save}
      initial={of === null ? NEW : formOf(of)}
      check={(form) => faultsIn(form, of)}
      request={(form) => form}
      submit={of === null ? 'Add channel' : 'Save'}
      onClose={onClose}
      className="space-y-5"
      noValidate
      sheet={{
        kind: 'drawer',
        title: of === null ? 'Add a channel' : `Change ${of.name}`,
        description: of === null ? 'Whom alerts are told to, and how.' : KINDS[of.kind].name,
      }}
    >
      {(form) => <ChannelFields form={form} of={of} />}
    </Form>
  );
}

interface Props {
  readonly form: FormInHand<ChannelForm>;
  readonly of: Channel | null;
}

function ChannelFields({ form, of }: Props) {
  const { field, values } = form;
  const { name: kindName, secret, hint } = KINDS[values.kind];
  return (
    <>
      {of === null && (
        <Select
          label="Kind"
          choices={KIND_NAMES.map((kind) => ({ value: kind, label: KINDS[kind].name }))}
          {...field('kind')}
        />
      )}
      <TextField
        label="Name"
        hint="Of your choice: small letters, digits, - and _."
        placeholder="ops"
        verbatim
        {...field('name')}
      />
      {values.kind === 'mail' && <MailFields form={form} of={of} />}
      {values.kind === 'webhook' && (
        <TextField
          label="URL"
          hint={hint}
          placeholder="https://ops.example.com/alerts"
          verbatim
          inputMode="url"
          {...field('url')}
        />
      )}
      {values.kind === 'ntfy' && (
        <TextField
          label="URL of the topic"
          placeholder="https://ntfy.sh/our-topic"
          verbatim
          inputMode="url"
          {...field('url')}
        />
      )}
      {secret !== null && (
        <SecretField
          label={secret}
          hint={of?.hasSecret ? `${hint} Empty keeps the one that is stored.` : hint}
          {...field('secret')}
        />
      )}
      {values.kind === 'pagerduty' && (
        <TextField
          label="Another region"
          hint="Empty for the usual one."
          placeholder="https://events.eu.pagerduty.com/v2/enqueue"
          verbatim
          inputMode="url"
          {...field('url')}
        />
      )}
      <Select label={`${kindName} is told of`} choices={SEVERITIES} {...field('severity')} />
    </>
  );
}

function MailFields({ form: { field } }: Props) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const names = (relays.data ?? []).map(({ name }) => name);
  return (
    <>
      <ListField
        label="To"
        placeholder="ops@example.com"
        hint="Enter or a comma ends an address."
        {...field('to')}
      />
      <Select
        label="By the relay"
        hint="Unless the alert is about it, or it fails: then by the first other one that is well."
        choices={[{ value: '', label: 'The first one that is well' }, ...names]}
        {...field('relay')}
      />
      <TextField
        label="From"
        hint="Empty for the postmaster of this server."
        placeholder="alerts@example.com"
        verbatim
        inputMode="email"
        {...field('from')}
      />
    </>
  );
}

function formOf({ name, kind, url, to, from, relay, severity }: Channel): ChannelForm {
  return { name, kind, url: url ?? '', secret: '', to, from: from ?? '', relay: relay ?? '', severity };
}

/** What stays of a channel that is changed is what the form does not show. */
function definitionOf(form: ChannelForm, of: Channel | null): Omit<RequestOf<'addAlertChannel'>, 'kind'> {
  const { name, kind, url, secret, to, from, relay, severity } = form;
  const isMail = kind === 'mail';
  const hasUrl = kind === 'webhook' || kind === 'ntfy' || kind === 'pagerduty';
  return {
    name: name.trim(),
    url: hasUrl ? orNull(url) : null,
    secret: KINDS[kind].secret === null ? null : orNull(secret),
    to: isMail ? [...to] : [],
    from: isMail ? orNull(from) : null,
    relay: isMail ? orNull(relay) : null,
    severity,
    enabled: of?.enabled ?? true,
    rules: [...(of?.rules ?? [])],
  };
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function faultsIn({ name, kind, url, secret, to }: ChannelForm, of: Channel | null) {
  const wantsUrl = kind === 'webhook' || kind === 'ntfy';
  const wantsSecret = KINDS[kind].secret !== null && kind !== 'ntfy' && !of?.hasSecret;
  return {
    name: /^\s*[a-z0-9][a-z0-9_-]{0,63}\s*$/.test(name) ? null : 'Must be 1 to 64 of a-z 0-9 - _.',
    url: wantsUrl && url.trim() === '' ? 'Fill this in.' : null,
    secret: wantsSecret && secret.trim() === '' ? 'Fill this in.' : null,
    to: kind === 'mail' && to.length === 0 ? 'Name a recipient.' : null,
  };
}
