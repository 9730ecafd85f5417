{{- define "waybill.name" -}}
{{- printf "%s" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "waybill.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "waybill.labels" -}}
{{ include "waybill.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "waybill.ingress" }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "waybill.name" .root }}-{{ .port }}
  labels: {{- include "waybill.labels" .root | nindent 4 }}
  {{- with .at.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .at.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls:
    - hosts: [{{ .at.host | quote }}]
      {{- with .at.tlsSecret }}
      secretName: {{ . }}
      {{- end }}
  rules:
    - host: {{ .at.host | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ include "waybill.name" .root }}
                port: { name: {{ .port }} }
{{ end -}}
