package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceSeconds = 300

var (
	secrets       = strings.Split(os.Getenv("WEBHOOK_SECRET"), " ")
	serviceFields = regexp.MustCompile(`(?:^|,)(t|v1)=([^,]*)`)
	timeForm      = regexp.MustCompile(`^[0-9]{1,15}$`)
	digestForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// Keep these in your database, so that they outlive a restart.
	seen  = map[string]bool{}
	mutex sync.Mutex
)

func digest(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func one(header http.Header, name string) (string, error) {
	if values := header.Values(name); len(values) == 1 {
		return values[0], nil
	}
	return "", errors.New("missing or repeated " + name)
}

// verifyStandard returns the event's id and the time it was signed at.
func verifyStandard(body []byte, header http.Header) (id, t string, err error) {
	id, errID := one(header, "webhook-id")
	t, errTime := one(header, "webhook-timestamp")
	signatures, errSignature := one(header, "webhook-signature")
	if err := errors.Join(errID, errTime, errSignature); err != nil {
		return "", "", err
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return "", "", err
		}
		own := "v1," + base64.StdEncoding.EncodeToString(digest(key, []byte(id+"."+t+"."), body))
		for _, signature := range strings.Split(signatures, " ") {
			if hmac.Equal([]byte(signature), []byte(own)) {
				return id, t, nil
			}
		}
	}
	return "", "", errors.New("signature mismatch")
}

// verifyService returns the delivery's id and the time it was signed at.
func verifyService(body []byte, header http.Header) (id, t string, err error) {
	signature, err := one(header, "x-service-signature")
	if err != nil {
		return "", "", err
	}
	// Each of the two once; further fields are ignored.
	fields := serviceFields.FindAllStringSubmatch(signature, -1)
	found := map[string]string{}
	for _, field := range fields {
		found[field[1]] = field[2]
	}
	t, v1 := found["t"], found["v1"]
	if len(fields) != 2 || !timeForm.MatchString(t) || !digestForm.MatchString(v1) {
		return "", "", errors.New("malformed header")
	}
	for _, secret := range secrets {
		own := hex.EncodeToString(digest([]byte(secret), []byte(t+"."), body))
		if hmac.Equal([]byte(v1), []byte(own)) {
			return header.Get("x-service-delivery"), t, nil
		}
	}
	return "", "", errors.New("signature mismatch")
}

// verify returns the id to deduplicate on.
func verify(body []byte, header http.Header) (string, error) {
	check := verifyService
	if len(header.Values("webhook-signature")) > 0 {
		check = verifyStandard
	}
	id, t, err := check(body, header)
	if err != nil {
		return "", err
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if apart := time.Now().Unix() - seconds; err != nil || apart > toleranceSeconds || apart < -toleranceSeconds {
		return "", errors.New("timestamp out of range")
	}
	return id, nil
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	id, err := verify(body, request.Header)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	if !seen[id] {
		seen[id] = true
		var content struct {
			Event string
			Data  json.RawMessage
		}
		var data bytes.Buffer
		if json.Unmarshal(body, &content) == nil && json.Compact(&data, content.Data) == nil {
			fmt.Printf("received %s %s\n", content.Event, data.String())
		}
	}
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(receive)))
}
