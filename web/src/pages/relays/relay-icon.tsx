import { Building2, Cloud, Globe, Inbox, type LucideIcon, Server, Webhook } from 'lucide-react';

const ICONS: Readonly<Record<string, LucideIcon>> = {
  inbox: Inbox,
  smtp: Server,
  mx: Globe,
  graph: Building2,
  webhook: Webhook,
};

/** The sign of a type of relay. */
export function RelayIcon({ type, size = 17 }: { readonly type: string; readonly size?: number }) {
  const Icon = ICONS[type] ?? Cloud;
  return (
    <span className="flex size-9 shrink-0 items-center justify-center rounded-md border border-line bg-paper text-soft">
      <Icon aria-hidden size={size} strokeWidth={1.75} />
    </span>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  inbox: 'Local inbox',
  smtp: 'SMTP smarthost',
  mx: 'Direct delivery',
  ses: 'Amazon SES',
  mailgun: 'Mailgun',
  postmark: 'Postmark',
  sendgrid: 'SendGrid',
  resend: 'Resend',
  graph: 'Microsoft 365',
  webhook: 'Webhook',
};

/** What people call a type. */
export function typeTitle(type: string): string {
  return TITLES[type] ?? type;
}
