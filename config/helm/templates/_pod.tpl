{{- /* What every process shares: a pod's labels, and its spec but for its containers' own words. */ -}}
{{- define "om.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "om.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false  # a release called om would be told OM_API_PORT=tcp://…
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
imagePullSecrets: {{ toYaml .Values.imagePullSecrets | nindent 2 }}
nodeSelector: {{ toYaml .Values.nodeSelector | nindent 2 }}
tolerations: {{ toYaml .Values.tolerations | nindent 2 }}
affinity: {{ toYaml .Values.affinity | nindent 2 }}
volumes:
  - name: tmp
    emptyDir: {}
  - name: config
    configMap:
      name: {{ .Release.Name }}-config
      items:
        - key: observational-memory.yaml
          path: observational-memory.yaml
        {{- range $index, $agent := .Values.agents }}
        - key: agent-{{ $index }}.yaml
          path: {{ printf "agents/%s/memory.yaml" $agent.name | quote }}
        {{- end }}
{{- end }}

{{- define "om.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - secretRef:
      name: {{ .Values.secretName }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: config
    mountPath: /app/config
    readOnly: true
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "om.env" -}}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
