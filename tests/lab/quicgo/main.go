// Command quicgo downloads over QUIC with quic-go. Usage:
//
//	quicgo serve ADDRESS:PORT
//	quicgo get ADDRESS:PORT BYTES
//
// The client sends a decimal number of bytes on a stream. The server answers with that many bytes of a fixed pattern.
// The client prints the SHA-256 of what arrives.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

const protocol = "sluice-test"

// config has windows that exceed every bandwidth-delay product of the tests.
var config = &quic.Config{
	InitialStreamReceiveWindow:     16 << 20,
	MaxStreamReceiveWindow:         64 << 20,
	InitialConnectionReceiveWindow: 16 << 20,
	MaxConnectionReceiveWindow:     64 << 20,
	MaxIdleTimeout:                 time.Minute,
}

// pattern is an endless stream of bytes in which position p of each block has the value p modulo 251.
type pattern struct{ at int }

func (p *pattern) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = byte(p.at % 251)
		p.at++
	}
	return len(into), nil
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(48 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func answer(connection *quic.Conn) error {
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return err
	}
	defer stream.Close()
	request, err := io.ReadAll(io.LimitReader(stream, 32))
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(string(request), 10, 64)
	if err != nil {
		return err
	}
	_, err = io.Copy(stream, io.LimitReader(&pattern{}, size))
	return err
}

func serve(address string) error {
	own, err := certificate()
	if err != nil {
		return err
	}
	listener, err := quic.ListenAddr(address, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{protocol}}, config)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			if err := answer(connection); err != nil {
				fmt.Fprintln(os.Stderr, "quicgo:", err)
			}
		}()
	}
}

func get(address, size string) error {
	settings := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
	connection, err := quic.DialAddr(context.Background(), address, settings, config)
	if err != nil {
		return err
	}
	defer connection.CloseWithError(0, "")
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte(size)); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, stream); err != nil {
		return err
	}
	fmt.Println(hex.EncodeToString(hash.Sum(nil)))
	return nil
}

func main() {
	err := fmt.Errorf("usage: quicgo serve ADDRESS:PORT | get ADDRESS:PORT BYTES")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "get":
		err = get(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quicgo:", err)
		os.Exit(1)
	}
}
