package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"pgtaskd/conf"
	"pgtaskd/exec"
	"pgtaskd/server/servertest"
)

// manifest is what we know of a Secret or a Deployment.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	StringData map[string]string `yaml:"stringData"`
	Spec       struct {
		Replicas int
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

type pod struct {
	AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		RunAsGroup     int                   `yaml:"runAsGroup"`
		FSGroup        int                   `yaml:"fsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []struct {
		Name   string
		Secret struct {
			SecretName  string `yaml:"secretName"`
			DefaultMode int    `yaml:"defaultMode"`
		}
	}
}

type container struct {
	Name, Image string
	Args        []string
	Env         []struct{ Name, Value string }
	Ports       []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	LivenessProbe   probe `yaml:"livenessProbe"`
	ReadinessProbe  probe `yaml:"readinessProbe"`
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds    int                         `yaml:"periodSeconds"`
	FailureThreshold int                         `yaml:"failureThreshold"`
}

// manifests reads those of the page. A field that manifest does not have is an error.
func manifests(t *testing.T) (secret, deployment manifest) {
	t.Helper()
	text, err := os.ReadFile("docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(text), "```yaml\n")
	all, _, _ = strings.Cut(all, "```\n")
	decoder := yaml.NewDecoder(strings.NewReader(all), yaml.Strict())
	for _, into := range []*manifest{&secret, &deployment} {
		if err := decoder.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if err := decoder.Decode(&manifest{}); err != io.EOF {
		t.Errorf("more manifests: %v", err)
	}
	return secret, deployment
}

// mounts writes the files of a Secret as the kubelet does, or exchanges them: the name of each is a
// link through ..data, which leads to the folder of the newest.
func mounts(t *testing.T, at, version string, files map[string]string) {
	t.Helper()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Readlink(filepath.Join(at, "..data"))
	try(os.Mkdir(filepath.Join(at, version), 0o755))
	for name, text := range files {
		try(os.WriteFile(filepath.Join(at, version, name), []byte(text), 0o440))
	}
	try(os.Symlink(version, filepath.Join(at, "..data_tmp")))
	try(os.Rename(filepath.Join(at, "..data_tmp"), filepath.Join(at, "..data")))
	if before != "" {
		try(os.RemoveAll(filepath.Join(at, before)))
		return
	}
	for name := range files {
		try(os.Symlink(filepath.Join("..data", name), filepath.Join(at, name)))
	}
}

// TestKubernetesManifests: they agree with each other, with the image and with the configuration.
func TestKubernetesManifests(t *testing.T) {
	t.Parallel()
	secret, deployment := manifests(t)
	spec := deployment.Spec.Template.Spec
	c, security := spec.Containers[0], spec.SecurityContext
	at := t.TempDir()
	mounts(t, at, "..one", secret.StringData)
	file, err := conf.Read(filepath.Join(at, filepath.Base(c.Args[2])))
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	command, _ := json.Marshal(c.Args)
	user := strconv.Itoa(security.RunAsUser)
	_, port, _ := strings.Cut(file.HTTP.Listen, ":")
	mount, volume := c.VolumeMounts[0], spec.Volumes[0]
	for what, right := range map[string]bool{
		"the kinds": secret.APIVersion+secret.Kind == "v1Secret" && deployment.APIVersion+deployment.Kind == "apps/v1Deployment",
		"two replicas": deployment.Spec.Replicas == 2 &&
			deployment.Spec.Selector.MatchLabels["app"] == deployment.Spec.Template.Metadata.Labels["app"],
		"the user of the image": security.RunAsNonRoot && security.RunAsGroup == security.RunAsUser && isNobody(user) &&
			strings.Contains(string(image), "\nUSER "+user+":"+user+"\n"),
		"the command of the image": strings.Contains(string(image), "\nCMD "+strings.ReplaceAll(string(command), ",", ", ")+"\n"),
		"few rights": c.SecurityContext.ReadOnlyRootFilesystem && !*c.SecurityContext.AllowPrivilegeEscalation &&
			c.SecurityContext.Capabilities.Drop[0] == "ALL" && !*spec.AutomountServiceAccountToken && security.SeccompProfile.Type == "RuntimeDefault",
		"the port":      port == strconv.Itoa(c.Ports[0].ContainerPort),
		"the liveness":  c.LivenessProbe.HTTPGet == struct{ Path, Port string }{"/healthz", c.Ports[0].Name} && c.LivenessProbe.FailureThreshold > 1,
		"the readiness": c.ReadinessProbe.HTTPGet == struct{ Path, Port string }{"/readyz", c.Ports[0].Name},
		"the Secret": volume.Secret.SecretName == secret.Metadata.Name && volume.Name == mount.Name && mount.ReadOnly &&
			mount.MountPath == filepath.Dir(c.Args[2]) && security.FSGroup == security.RunAsGroup && volume.Secret.DefaultMode == 0o440,
		"the password file": c.Env[0].Name == "PGPASSFILE" && filepath.Dir(c.Env[0].Value) == mount.MountPath &&
			secret.StringData[filepath.Base(c.Env[0].Value)] != "",
		"no password in the configuration": file.Exposed(filepath.Join(at, "pgtaskd.json")) == "",
	} {
		if !right {
			t.Errorf("%s: not as it should be in %+v", what, deployment.Spec)
		}
	}
	for _, to := range file.Targets {
		if pods := time.Duration(spec.TerminationGracePeriodSeconds) * time.Second; pods <= to.Grace+exec.Obey {
			t.Errorf("the pod is killed after %v, and a drain takes up to %v", pods, to.Grace+exec.Obey)
		}
	}
}

// TestASecretOfKubernetesIsFollowed: with a configuration in the files of a Secret, the probes get
// their answers, and the new files of the Secret take effect.
func TestASecretOfKubernetesIsFollowed(t *testing.T) {
	secret, deployment := manifests(t)
	c := deployment.Spec.Template.Spec.Containers[0]
	dsn, other := servertest.Database(t), servertest.Database(t)
	at := t.TempDir()
	files := func(all ...string) map[string]string {
		var config map[string]any
		if err := json.Unmarshal([]byte(secret.StringData["pgtaskd.json"]), &config); err != nil {
			t.Fatal(err)
		}
		targets := []any{}
		for _, dsn := range all {
			to := servertest.Connect(t, dsn).Config()
			targets = append(targets, map[string]any{"data": to.Database, "user": to.User})
		}
		config["dsn"], config["targets"], config["http"] = dsn, targets, map[string]any{"listen": "127.0.0.1:0"}
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"pgtaskd.json": string(text), "pgpass": secret.StringData["pgpass"]}
	}
	mounts(t, at, "..one", files(dsn))
	t.Setenv("PGPASSFILE", filepath.Join(at, "pgpass"))
	d := start(t, c.Args[1], filepath.Join(at, filepath.Base(c.Args[2])))
	d.leads(1)
	_, url, _ := strings.Cut(d.stderr.String(), `"url":"`)
	url, _, _ = strings.Cut(url, `"`)
	for _, p := range []probe{c.LivenessProbe, c.ReadinessProbe} {
		d.until(p.HTTPGet.Path, func() bool {
			response, err := http.Get(strings.TrimSuffix(url, "/") + p.HTTPGet.Path)
			if err == nil {
				response.Body.Close()
			}
			return err == nil && response.StatusCode == http.StatusOK
		})
	}
	mounts(t, at, "..two", files(dsn, other))
	d.leads(2)
}
